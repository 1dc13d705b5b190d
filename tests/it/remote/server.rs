//! A server of ranges for tests: HTTP/1.1 over threads, with a delay, counts, and faults.

use std::collections::HashMap;
use std::io::{BufRead, BufReader, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::{Arc, Mutex};
use std::time::Duration;

/// What the server does instead of sending the range.
#[derive(Clone, Debug)]
pub(crate) enum Fault {
    /// Closes the connection without a word.
    Reset,
    /// Sends this status and these headers, and no body.
    Status(u16, String),
    /// Sends all of the file, status 200.
    Whole,
    /// Ends after so many bytes of the body.
    Short(usize),
    /// Says that it sends the range one byte further on.
    WrongRange,
    /// Says that it sends one byte less, and does.
    WrongLength,
    /// Says that the file has this many bytes.
    OtherSize(usize),
    /// Says that the version is this one; nothing if it is empty.
    Version(String),
    /// Says that the body is compressed.
    Compressed,
}

/// A request.
#[derive(Clone, Debug)]
pub(crate) struct Request {
    pub(crate) path: String,
    /// First and last byte.
    pub(crate) range: Option<(usize, usize)>,
    pub(crate) token: Option<String>,
}

/// What is done about a request, by its number.
type Script = Box<dyn Fn(usize, &Request) -> Option<Fault> + Send + Sync>;

struct Shared {
    files: HashMap<String, Vec<u8>>,
    delay: Duration,
    script: Script,
    requests: Mutex<Vec<Request>>,
}

/// A server, which lives as long as the test.
#[derive(Clone)]
pub(crate) struct Server {
    shared: Arc<Shared>,
    port: u16,
}

impl Server {
    /// A server of `files`, by path.
    pub(crate) fn of(files: impl IntoIterator<Item = (String, Vec<u8>)>) -> Server {
        Server::with(files, Duration::ZERO, |_, _| None)
    }

    /// A server of one file, `/x.h5`, which does what `script` says.
    pub(crate) fn faulty(
        bytes: Vec<u8>,
        script: impl Fn(usize, &Request) -> Option<Fault> + Send + Sync + 'static,
    ) -> Server {
        Server::with([("/x.h5".to_owned(), bytes)], Duration::ZERO, script)
    }

    pub(crate) fn with(
        files: impl IntoIterator<Item = (String, Vec<u8>)>,
        delay: Duration,
        script: impl Fn(usize, &Request) -> Option<Fault> + Send + Sync + 'static,
    ) -> Server {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        let files = files.into_iter().collect();
        let shared = Arc::new(Shared { files, delay, script: Box::new(script), requests: Mutex::default() });
        let server = Server { shared: Arc::clone(&shared), port };
        std::thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let shared = Arc::clone(&shared);
                std::thread::spawn(move || serve(&shared, &stream));
            }
        });
        server
    }

    pub(crate) fn url(&self, path: &str) -> String {
        format!("http://127.0.0.1:{}{path}", self.port)
    }

    /// What was asked for since the last call.
    pub(crate) fn requests(&self) -> Vec<Request> {
        std::mem::take(&mut self.shared.requests.lock().unwrap())
    }
}

fn serve(shared: &Shared, stream: &TcpStream) -> Option<()> {
    stream.set_nodelay(true).ok()?;
    let mut lines = BufReader::new(stream);
    loop {
        let request = read(&mut lines)?;
        let number = {
            let mut requests = shared.requests.lock().unwrap();
            requests.push(request.clone());
            requests.len() - 1
        };
        std::thread::sleep(shared.delay);
        answer(shared, stream, &request, (shared.script)(number, &request))?;
    }
}

fn read(lines: &mut impl BufRead) -> Option<Request> {
    let mut line = String::new();
    lines.read_line(&mut line).ok().filter(|n| *n > 0)?;
    let path = line.split(' ').nth(1)?.split('?').next()?.to_owned();
    let mut request = Request { path, range: None, token: None };
    loop {
        line.clear();
        lines.read_line(&mut line).ok().filter(|n| *n > 0)?;
        let Some((name, value)) = line.trim_end().split_once(": ") else { return Some(request) };
        match name.to_ascii_lowercase().as_str() {
            "range" => {
                let (first, last) = value.strip_prefix("bytes=")?.split_once('-')?;
                request.range = Some((first.parse().ok()?, last.parse().ok()?));
            }
            "authorization" => request.token = Some(value.to_owned()),
            _ => {}
        }
    }
}

fn answer(shared: &Shared, mut stream: &TcpStream, request: &Request, fault: Option<Fault>) -> Option<()> {
    let status = |status: u16, headers: &str| {
        format!("HTTP/1.1 {status} Status\r\n{headers}Content-Length: 0\r\n\r\n").into_bytes()
    };
    let Some(file) = shared.files.get(&request.path) else {
        let head = match fault {
            Some(Fault::Status(code, headers)) => status(code, &headers),
            _ => status(404, ""),
        };
        return stream.write_all(&head).ok();
    };
    let (mut first, mut last) = request.range.map_or((0, file.len() - 1), |(a, b)| (a, b.min(file.len() - 1)));
    let (mut code, mut size, mut version, mut headers) = (206, file.len(), "\"1\"".to_owned(), String::new());
    let (mut body, mut said) = (&file[first..=last], None);
    match fault {
        None => {}
        Some(Fault::Reset) => return None,
        Some(Fault::Status(code, headers)) => return stream.write_all(&status(code, &headers)).ok(),
        Some(Fault::Whole) => (code, body) = (200, &file[..]),
        Some(Fault::Short(bytes)) => {
            said = Some(body.len());
            body = &body[..bytes.min(body.len())];
        }
        Some(Fault::WrongRange) => (first, last) = (first + 1, last + 1),
        Some(Fault::WrongLength) => body = &body[1..],
        Some(Fault::OtherSize(bytes)) => size = bytes,
        Some(Fault::Version(other)) => version = other,
        Some(Fault::Compressed) => headers.push_str("Content-Encoding: gzip\r\n"),
    }
    let len = said.unwrap_or(body.len());
    if code == 206 {
        headers.push_str(&format!("Content-Range: bytes {first}-{last}/{size}\r\n"));
    }
    if !version.is_empty() {
        headers.push_str(&format!("ETag: {version}\r\n"));
    }
    let head = format!("HTTP/1.1 {code} Status\r\nContent-Length: {len}\r\n{headers}\r\n");
    stream.write_all(head.as_bytes()).and_then(|()| stream.write_all(body)).ok()?;
    (len == body.len()).then_some(())
}
