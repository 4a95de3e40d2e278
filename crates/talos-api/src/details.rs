//! Replies without the details of their status.
//!
//! Talos sends none and nothing here reads them, but tonic 0.14.9 panics over details that are not base64, and anything that
//! answers at an address could send such.

use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll};

use http_body_util::BodyExt;
use tonic::body::Body;
use tonic::codegen::Service;
use tonic::codegen::http::{HeaderMap, Request, Response};
use tonic::transport::{Channel, Error};

/// A channel whose replies have no details.
#[derive(Clone, Debug)]
pub struct WithoutDetails(Channel);

impl WithoutDetails {
    pub(crate) fn new(channel: Channel) -> Self {
        Self(channel)
    }
}

impl Service<Request<Body>> for WithoutDetails {
    type Response = Response<Body>;
    type Error = Error;
    type Future = Pin<Box<dyn Future<Output = Result<Response<Body>, Error>> + Send>>;

    fn poll_ready(&mut self, task: &mut Context<'_>) -> Poll<Result<(), Error>> {
        self.0.poll_ready(task)
    }

    fn call(&mut self, request: Request<Body>) -> Self::Future {
        let reply = self.0.call(request);
        Box::pin(async move {
            let mut reply = reply.await?;
            remove(reply.headers_mut());
            Ok(reply.map(|body| {
                Body::new(body.map_frame(|mut frame| {
                    frame.trailers_mut().map(remove);
                    frame
                }))
            }))
        })
    }
}

fn remove(headers: &mut HeaderMap) {
    headers.remove("grpc-status-details-bin");
}
