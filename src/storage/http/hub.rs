//! Names of files on a hub: `hf://[datasets/|spaces/]OWNER/NAME[@REVISION]/PATH`.

use super::address::quoted;
use super::options::HttpOptions;
use crate::error::{Error, Result};

/// What names of files on a hub begin with.
pub(super) const SCHEME: &str = "hf://";
/// Where they are, if nobody says otherwise.
const ENDPOINT: &str = "https://huggingface.co";
/// Variables that may hold a token, in the order in which they count.
const TOKENS: [&str; 2] = ["HF_TOKEN", "HUGGING_FACE_HUB_TOKEN"];

/// The URL of the file called `name`. Errors are `Invalid`.
pub(super) fn url(name: &str, endpoint: Option<&str>) -> Result<String> {
    let wrong =
        || Error::invalid("a name on a hub is hf://OWNER/NAME/PATH, hf://datasets/OWNER/NAME@REVISION/PATH or alike");
    let rest = name.strip_prefix(SCHEME).ok_or_else(wrong)?;
    let kind = ["datasets/", "spaces/"].into_iter().find(|kind| rest.starts_with(kind)).unwrap_or("");
    let mut parts = rest[kind.len()..].splitn(3, '/');
    let (owner, repository) = parts.next().zip(parts.next()).ok_or_else(wrong)?;
    let path = parts.next().ok_or_else(wrong)?;
    let (repository, revision) = repository.split_once('@').unwrap_or((repository, "main"));
    // A revision with slashes is written with %2F, and stays so.
    let is_part = |part: &str| !part.is_empty() && !part.starts_with('.') && !part.contains(['?', '#', '\\', '@']);
    if ![owner, repository, revision, path].into_iter().all(is_part) || path.split('/').any(|part| part == "..") {
        return Err(wrong());
    }
    let said = std::env::var("HF_ENDPOINT").ok().filter(|said| !said.is_empty());
    let endpoint = endpoint.map(str::to_owned).or(said).unwrap_or_else(|| ENDPOINT.to_owned());
    let (endpoint, path) = (endpoint.trim_end_matches('/'), quoted(path));
    Ok(format!("{endpoint}/{kind}{owner}/{repository}/resolve/{revision}/{path}"))
}

/// The options for the hub: with the token that the environment holds, if none was given.
pub(super) fn options(options: &HttpOptions) -> HttpOptions {
    let from_environment = || TOKENS.iter().find_map(|name| std::env::var(name).ok().filter(|token| !token.is_empty()));
    if options.has_token() { options.clone() } else { options.clone().token(from_environment) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_urls_of_the_hub() {
        let url = |name: &str| url(name, Some("https://hub.org/"));
        assert_eq!(url("hf://me/model/a b.h5").unwrap(), "https://hub.org/me/model/resolve/main/a%20b.h5");
        let dataset = url("hf://datasets/me/data@v1.0/x/y.h5").unwrap();
        assert_eq!(dataset, "https://hub.org/datasets/me/data/resolve/v1.0/x/y.h5");
        let request = url("hf://spaces/me/it@refs%2Fpr%2F1/y.h5").unwrap();
        assert_eq!(request, "https://hub.org/spaces/me/it/resolve/refs%2Fpr%2F1/y.h5");
        for wrong in [
            "hf://",
            "hf://me",
            "hf://me/model",
            "hf://me/model/",
            "hf://me/model@/x",
            "hf://me/../x",
            "hf://me/m/a/../x",
        ] {
            assert!(url(wrong).is_err(), "{wrong}");
        }
    }
}
