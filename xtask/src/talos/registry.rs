//! A registry of container images that can only be read: the folder of [`super::image`] over HTTP.

use std::io::{self, BufRead, BufReader, Write};
use std::net::{TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::thread;

use fs_err::File;

use super::image::MANIFEST;

/// Serves until the process ends.
pub(super) fn serve(listener: TcpListener, folder: PathBuf) {
    thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            let folder = folder.clone();
            // A client that went away is its own trouble.
            thread::spawn(move || answer(&stream, &folder).ok());
        }
    });
}

/// Answers one request and closes, which spares us everything that could follow on the same connection.
fn answer(mut stream: &TcpStream, folder: &Path) -> io::Result<()> {
    let mut lines = BufReader::new(stream).lines();
    let request = lines.next().transpose()?.unwrap_or_default();
    for line in lines {
        if line?.is_empty() {
            break;
        }
    }
    let mut words = request.split(' ');
    let (method, target) = (words.next().unwrap_or_default(), words.next().unwrap_or_default());
    let path = target.split('?').next().unwrap_or_default();

    if matches!(path, "/v2" | "/v2/") {
        return stream
            .write_all(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\nConnection: close\r\n\r\n{}");
    }
    let Some((digest, media_type)) = find(path, folder) else {
        let none = "HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\nConnection: close\r\n\r\n";
        return stream.write_all(none.as_bytes());
    };
    let mut blob = File::open(folder.join("blobs").join(&digest))?;
    let head = format!(
        "HTTP/1.1 200 OK\r\nContent-Type: {media_type}\r\nContent-Length: {}\r\n\
         Docker-Content-Digest: sha256:{digest}\r\nConnection: close\r\n\r\n",
        blob.metadata()?.len()
    );
    stream.write_all(head.as_bytes())?;
    if method == "GET" {
        io::copy(&mut blob, &mut stream)?;
    }
    Ok(())
}

/// The blob that a path asks for, and its type.
fn find(path: &str, folder: &Path) -> Option<(String, &'static str)> {
    let (name, reference) = path.strip_prefix("/v2/")?.rsplit_once('/')?;
    let (name, kind) = name.rsplit_once('/')?;
    let digest = match reference.strip_prefix("sha256:") {
        Some(digest) => digest.to_owned(),
        None => {
            fs_err::read_to_string(folder.join("tags").join(format!("{name}:{reference}"))).ok()?
        }
    };
    let media_type = if kind == "manifests" { MANIFEST } else { "application/octet-stream" };
    folder.join("blobs").join(&digest).is_file().then_some((digest, media_type))
}
