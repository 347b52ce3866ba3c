#if os(Linux)
/// Sends requests over HTTP with libcurl.
///
/// It follows redirects, and uses the proxy that `http_proxy` and `https_proxy` name. Servers must show a certificate
/// that the system trusts, or one of the file that `SSL_CERT_FILE` names.
///
/// Apple's systems have ``URLSessionTransport``. Foundation's `URLSession` on Linux keeps a processor busy while the
/// first request of a connection waits for its answer, and a long poll waits for most of its life.
package final class CurlTransport: WebServicesTransport {
  private let serverURL: URL

  package init(serverURL: URL) {
    self.serverURL = serverURL
  }

  package func send(
    _ request: TransportRequest,
    completion: @escaping @Sendable (Result<TransportResponse, TransportFailure>) -> Void
  ) -> @Sendable () -> Void {
    guard let url = request.url(below: serverURL) else {
      completion(.failure(TransportFailure(noURLOf: request)))
      return {}
    }
    let body: CurlTransfer.Body? =
      switch request.method {
      case .get: nil
      case .post: .bytes(request.body ?? Data(), contentType: request.contentType)
      }
    let transfer = CurlTransfer(
      url: url, body: body, target: nil, timeout: request.timeout, progress: { _ in },
      completion: completion)
    switch request.target {
    case .path, .asset: return Self.requests.start(transfer)
    case .courier: return Self.longPolls.start(transfer)
    }
  }

  package func transfer(
    _ transfer: AssetTransfer, progress: @escaping @Sendable (Int64) -> Void,
    completion: @escaping @Sendable (Result<TransportResponse, TransportFailure>) -> Void
  ) -> @Sendable () -> Void {
    let body: CurlTransfer.Body?
    let target: URL?
    switch transfer.direction {
    case .upload(let file): (body, target) = (.file(file), nil)
    case .download(let file): (body, target) = (nil, file)
    }
    return Self.transfers.start(
      CurlTransfer(
        url: transfer.url, body: body, target: target, timeout: transfer.timeout,
        progress: progress, completion: completion))
  }

  // All containers share these, so that their connections are used again. A long poll keeps its connection
  // busy, and so does a large file; apart, neither can starve requests.
  private static let requests = CurlLoop(name: "petrel-requests", connectionsPerHost: 8)
  private static let longPolls = CurlLoop(name: "petrel-polls", connectionsPerHost: 256)
  private static let transfers = CurlLoop(name: "petrel-files", connectionsPerHost: 8)
}
#endif
