#if os(Linux)
internal import HTTPTransfers

/// A transport that sends requests over HTTP with libcurl, on Linux.
///
/// The transport follows up to 16 redirects, and uses the proxy in the environment variables
/// `http_proxy` and `https_proxy`. A server has to show a certificate that the system trusts, or
/// one that the file in `SSL_CERT_FILE` trusts.
///
/// Apple's systems use ``URLSessionTransport``. On Linux, Foundation's `URLSession` keeps a
/// processor busy while the first request of a connection waits for its answer. A long poll, a
/// request that the server answers late, would waste the processor most of the time.
package final class CurlTransport: WebServicesTransport {
  private let serverURL: URL

  package init(serverURL: URL) {
    self.serverURL = serverURL
  }

  /// Sends a request. Long polls of the web courier have connections of their own.
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
    case .path, .asset: return transfer.start(in: Self.requests)
    case .courier: return transfer.start(in: Self.longPolls)
    }
  }

  /// Transfers a file without reading the whole file into memory.
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
    return CurlTransfer(
      url: transfer.url, body: body, target: target, timeout: transfer.timeout,
      progress: progress, completion: completion
    ).start(in: Self.transfers)
  }

  // All containers share these loops, so requests can use connections again. A long poll or a large
  // file keeps its connection busy. With separate loops, neither can delay other requests.
  private static let requests = TransferLoop(name: "petrel-requests", connectionsPerHost: 8)
  private static let longPolls = TransferLoop(name: "petrel-polls", connectionsPerHost: 256)
  private static let transfers = TransferLoop(name: "petrel-files", connectionsPerHost: 8)
}
#endif
