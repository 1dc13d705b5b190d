//! Servers that misbehave: the answer is right in the end, or there is an error that says what is wrong.

use std::time::{Duration, Instant};

use hdfive::ErrorKind;
use hdfive::storage::http::{HttpOptions, HttpSource};
use hdfive::storage::{ByteSource, Identity, IoProfile, read_at};

use super::server::{Fault, Request, Server};

/// Requests of at most 4,000 bytes, the first one of 1,000; three attempts.
fn options() -> HttpOptions {
    let profile = IoProfile {
        block: 100,
        read_ahead: 1000,
        latency: Duration::from_millis(1),
        bandwidth: 4_000_000,
        connections: 4,
        ..IoProfile::REMOTE
    };
    HttpOptions::new().profile(profile).attempts(3, Duration::from_millis(1)).timeout(Duration::from_millis(500))
}

fn content() -> Vec<u8> {
    (0..30_000u32).flat_map(|n| u8::try_from(n * 7 / 3 % 251)).collect()
}

/// Opens and reads all behind the beginning, the server doing what `script` says.
fn read(
    script: impl Fn(usize, &Request) -> Option<Fault> + Send + Sync + 'static,
) -> hdfive::Result<(Vec<u8>, Server)> {
    let server = Server::faulty(content(), script);
    let source = HttpSource::open(&server.url("/x.h5"), options())?;
    let mut buffer = vec![0; content().len() - 2000];
    read_at(&source, 2000, &mut buffer)?;
    Ok((buffer, server))
}

/// What is right in the end, and how many requests that took: 8 where nothing goes wrong.
fn requests(script: impl Fn(usize, &Request) -> Option<Fault> + Send + Sync + 'static) -> usize {
    let (bytes, server) = read(script).unwrap();
    assert_eq!(bytes, content()[2000..]);
    server.requests().len()
}

fn kind(script: impl Fn(usize, &Request) -> Option<Fault> + Send + Sync + 'static) -> ErrorKind {
    read(script).map(|_| ()).unwrap_err().kind()
}

#[test]
fn a_large_range_is_asked_for_in_parts() {
    assert_eq!(requests(|_, _| None), 8);
}

#[test]
fn what_fails_once_is_tried_again() {
    assert_eq!(requests(|number, _| (number == 0).then_some(Fault::Reset)), 9);
    assert_eq!(requests(|number, _| (number == 3).then_some(Fault::Reset)), 9);
    assert_eq!(requests(|number, _| (number == 3).then_some(Fault::WrongRange)), 9);
    assert_eq!(requests(|number, _| (number == 3).then_some(Fault::WrongLength)), 9);
    for status in [408, 429, 500, 502, 503, 504] {
        assert_eq!(requests(move |number, _| (number == 2).then(|| Fault::Status(status, String::new()))), 9);
    }
}

#[test]
fn what_keeps_failing_is_an_error() {
    let always = |fault: fn() -> Fault| move |number, _: &Request| (number > 0).then(fault);
    assert_eq!(kind(always(|| Fault::Reset)), ErrorKind::Io);
    assert_eq!(kind(always(|| Fault::WrongRange)), ErrorKind::Io);
    assert_eq!(kind(always(|| Fault::WrongLength)), ErrorKind::Io);
    assert_eq!(kind(always(|| Fault::Short(10))), ErrorKind::Io);
    assert_eq!(kind(always(|| Fault::Status(503, String::new()))), ErrorKind::Io);
    assert_eq!(kind(always(|| Fault::Status(401, String::new()))), ErrorKind::Denied);
    assert_eq!(kind(always(|| Fault::Status(403, String::new()))), ErrorKind::Denied);
    assert_eq!(kind(always(|| Fault::Status(404, String::new()))), ErrorKind::NotFound);
    assert_eq!(kind(always(|| Fault::Status(418, String::new()))), ErrorKind::Io);
    assert_eq!(kind(always(|| Fault::Compressed)), ErrorKind::Unsupported);
}

#[test]
fn an_answer_that_breaks_off_is_continued_where_it_broke() {
    let server = Server::faulty(content(), |number, _| (number == 1).then_some(Fault::Short(1234)));
    let source = HttpSource::open(&server.url("/x.h5"), options()).unwrap();
    let mut buffer = vec![0; 3000];
    read_at(&source, 2000, &mut buffer).unwrap();
    assert_eq!(buffer, content()[2000..5000]);
    let ranges: Vec<_> = server.requests().iter().map(|request| request.range.unwrap()).collect();
    assert_eq!(ranges, [(0, 999), (2000, 4999), (3234, 4999)]);
}

#[test]
fn a_server_is_given_the_time_that_it_asks_for() {
    let before = Instant::now();
    let asks = |number, _: &Request| (number == 2).then(|| Fault::Status(503, "Retry-After: 1\r\n".to_owned()));
    assert_eq!(requests(asks), 9);
    assert!(before.elapsed() >= Duration::from_secs(1));
    let asks_much = |number, _: &Request| (number == 2).then(|| Fault::Status(503, "Retry-After: 7200\r\n".to_owned()));
    assert_eq!(kind(asks_much), ErrorKind::Io);
}

#[test]
fn a_file_that_changes_is_an_error_and_never_a_mixture() {
    let from = |fault: fn() -> Fault| move |number, _: &Request| (number >= 4).then(fault);
    assert_eq!(kind(from(|| Fault::Version("\"2\"".to_owned()))), ErrorKind::Changed);
    assert_eq!(kind(from(|| Fault::Version(String::new()))), ErrorKind::Changed);
    assert_eq!(kind(from(|| Fault::OtherSize(30_001))), ErrorKind::Changed);
    assert_eq!(kind(from(|| Fault::Status(412, String::new()))), ErrorKind::Changed);
    assert_eq!(kind(from(|| Fault::Status(416, "Content-Range: bytes */7\r\n".to_owned()))), ErrorKind::Changed);
}

#[test]
fn a_server_without_ranges_is_asked_once() {
    let server = Server::faulty(content(), |_, _| Some(Fault::Whole));
    let source = HttpSource::open(&server.url("/x.h5"), options()).unwrap();
    let mut buffer = vec![0; 20_000];
    read_at(&source, 7, &mut buffer).unwrap();
    assert_eq!(buffer, content()[7..20_007]);
    assert_eq!(source.len().unwrap(), 30_000);
    assert_eq!(server.requests().len(), 1);
    let large = HttpSource::open(&server.url("/x.h5"), options().largest_body(29_999));
    assert_eq!(large.unwrap_err().kind(), ErrorKind::Unsupported);
}

#[test]
fn a_server_that_forgets_ranges_is_believed_once() {
    let server = Server::faulty(content(), |number, _| (number > 0).then_some(Fault::Whole));
    let source = HttpSource::open(&server.url("/x.h5"), options()).unwrap();
    for start in [2000u16, 9000] {
        let mut buffer = vec![0; 3000];
        read_at(&source, start.into(), &mut buffer).unwrap();
        assert_eq!(buffer, content()[start.into()..][..3000]);
    }
    assert_eq!(server.requests().len(), 2);
}

#[test]
fn a_token_goes_to_no_other_host() {
    let other = Server::of([("/x.h5".to_owned(), content())]);
    let location = format!("Location: {}\r\n", other.url("/x.h5"));
    let first = Server::with([], Duration::ZERO, move |_, _| Some(Fault::Status(302, location.clone())));
    let options = options().token(|| Some("secret".to_owned()));
    let source = HttpSource::open(&first.url("/x.h5"), options.clone()).unwrap();
    let mut buffer = vec![0; 100];
    read_at(&source, 5000, &mut buffer).unwrap();
    assert_eq!(buffer, content()[5000..5100]);
    let tokens = |server: &Server| server.requests().into_iter().map(|request| request.token).collect::<Vec<_>>();
    assert_eq!(tokens(&first), [Some("Bearer secret".to_owned())], "where it led is remembered");
    assert_eq!(tokens(&other), [None, None]);
    assert!(!format!("{source:?} {options:?}").contains("secret"));
    let gone = HttpSource::open(&other.url("/y.h5"), options).unwrap_err();
    assert_eq!((gone.kind(), tokens(&other)), (ErrorKind::NotFound, vec![Some("Bearer secret".to_owned())]));
    assert!(!format!("{gone:?}").contains("secret"));
}

#[test]
fn where_a_redirect_led_is_asked_for_again_when_it_has_run_out() {
    let other = Server::faulty(content(), |number, _| (number == 1).then(|| Fault::Status(403, String::new())));
    let location = format!("Location: {}\r\n", other.url("/x.h5"));
    let first = Server::with([], Duration::ZERO, move |_, _| Some(Fault::Status(307, location.clone())));
    let source = HttpSource::open(&first.url("/x.h5"), options()).unwrap();
    read_at(&source, 5000, &mut [0; 100]).unwrap();
    assert_eq!((first.requests().len(), other.requests().len()), (2, 3));
}

/// A hub leads to another host, and says the hash of the content where it does.
#[test]
fn a_name_on_a_hub_is_the_content_that_the_hub_says() {
    let bytes = std::fs::read(crate::support::testdata("readme/weather.h5")).unwrap();
    let other = Server::of([("/x.h5".to_owned(), bytes)]);
    let head = format!("Location: {}\r\nX-Linked-Etag: \"abc\"\r\n", other.url("/x.h5"));
    let hub = Server::with([], Duration::ZERO, move |_, _| Some(Fault::Status(302, head.clone())));
    let http = options().endpoint(hub.url("")).token(|| Some("secret".to_owned()));
    let file = hdfive::OpenOptions::new().http(http).open_url("hf://datasets/me/data@v1/some where/x.h5").unwrap();
    assert!(file.root().unwrap().names().unwrap().contains(&"surface".to_owned()));
    let asked = hub.requests();
    assert_eq!(asked[0].path, "/datasets/me/data/resolve/v1/some%20where/x.h5");
    assert_eq!(asked[0].token.as_deref(), Some("Bearer secret"));
    assert!(other.requests().iter().all(|request| request.token.is_none()));
}

#[test]
fn redirects_in_a_circle_end() {
    let circle = Server::with([], Duration::ZERO, |_, _| Some(Fault::Status(302, "Location: /y.h5\r\n".to_owned())));
    assert_eq!(HttpSource::open(&circle.url("/x.h5"), options()).unwrap_err().kind(), ErrorKind::Io);
    assert!(circle.requests().len() < 20);
}

#[test]
fn a_closed_source_gives_nothing_more() {
    let server = Server::of([("/x.h5".to_owned(), content())]);
    let source = HttpSource::open(&server.url("/x.h5"), options()).unwrap();
    assert_eq!(source.identity(), Identity::Strong(format!("{} \"1\"", server.url("/x.h5"))));
    source.close();
    assert_eq!(read_at(&source, 5000, &mut [0; 100]).unwrap_err().kind(), ErrorKind::Invalid);
    assert_eq!(server.requests().len(), 1);
}

#[test]
fn a_server_that_does_not_answer_is_not_waited_for() {
    let before = Instant::now();
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://127.0.0.1:{}/x.h5", listener.local_addr().unwrap().port());
    assert_eq!(HttpSource::open(&url, options()).unwrap_err().kind(), ErrorKind::Io);
    assert!(before.elapsed() < Duration::from_secs(10));
}

#[test]
fn an_empty_file_has_no_bytes() {
    let server = Server::with([], Duration::ZERO, |_, _| {
        Some(Fault::Status(416, "Content-Range: bytes */0\r\nETag: \"0\"\r\n".to_owned()))
    });
    assert_eq!(HttpSource::open(&server.url("/x.h5"), options()).unwrap().len().unwrap(), 0);
}
