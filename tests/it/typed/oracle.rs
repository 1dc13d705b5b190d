//! One Python process that answers many questions.

use std::io::{BufRead, BufReader, Write};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

use serde_json::Value;

use crate::support::{package, python};

/// h5py, asked over a pipe.
pub(super) struct Oracle {
    process: Child,
    questions: ChildStdin,
    answers: BufReader<ChildStdout>,
}

impl Oracle {
    pub(super) fn start() -> Oracle {
        let script = package().join("tests/it/typed/oracle.py");
        let mut process = Command::new(python::python())
            .arg("-B")
            .arg(script)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let (questions, answers) = (process.stdin.take().unwrap(), process.stdout.take().unwrap());
        Oracle { process, questions, answers: BufReader::new(answers) }
    }

    /// The answer; `None` if the process ended over the question, and another took its place.
    pub(super) fn ask(&mut self, question: &Value) -> Option<Value> {
        let mut line = String::new();
        let asked = writeln!(self.questions, "{question}").and_then(|()| self.questions.flush());
        if asked.is_ok() && self.answers.read_line(&mut line).is_ok_and(|read| read > 0) {
            return Some(serde_json::from_str(&line).unwrap());
        }
        *self = Oracle::start();
        None
    }
}

impl Drop for Oracle {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}
