import OutboundHTTP
import Synchronization

/// An HTTP client for servers that the operator names, at any address.
///
/// The client limits the time and memory for such a server. By default, an answer must end within
/// 10 seconds and have at most 256 KiB. The client follows no redirects and keeps no cookies.
public final class BoundedFetcher: Sendable {
  private let configuration: HTTPClient.Configuration
  /// The client, which has a thread of its own; nil until the first request.
  private let client = Mutex<HTTPClient?>(nil)

  /// Creates a fetcher. It opens no connection and starts no thread before the first request.
  ///
  /// - Parameter timeout: the maximum time in seconds from a request to the end of its answer.
  public init(timeout: Double = 10) {
    var configuration = HTTPClient.Configuration()
    configuration.rules = .anywhere
    // An issuer on this machine may work without TLS. ``IssuerMetadata`` refuses URLs without TLS
    // of other issuers.
    configuration.allowsHTTP = true
    configuration.time = timeout
    configuration.answerBytes = 256 << 10
    self.configuration = configuration
  }

  deinit {
    guard let client = client.withLock({ $0 }) else { return }
    Task { await client.close() }
  }

  /// Sends a `GET` request, or a `POST` request with a form if `form` is not nil.
  ///
  /// - Returns: the answer with any status.
  /// - Throws: ``OpenIDError/Code/unreachable`` for an invalid URL, a failed connection and a late
  ///   answer. ``OpenIDError/Code/badAnswer`` if the answer is too long.
  public func fetch(
    _ url: String, form: String?, authorization: String?
  ) async throws(OpenIDError) -> OutboundAnswer {
    var headers = [(name: "Accept", value: "application/json")]
    if form != nil {
      headers.append((name: "Content-Type", value: "application/x-www-form-urlencoded"))
    }
    if let authorization { headers.append((name: "Authorization", value: authorization)) }
    let target: OutboundURL
    do {
      target = try OutboundURL(url, allowsHTTP: true, rules: configuration.rules)
    } catch {
      throw OpenIDError(.unreachable, "the URL '\(url.prefix(200))' \(error)")
    }
    do {
      return try await startedClient().send(
        OutboundRequest(
          form == nil ? .get : .post, url: target, headers: headers, body: Array((form ?? "").utf8)
        ))
    } catch {
      throw OpenIDError(
        error.code == .answerTooLarge ? .badAnswer : .unreachable, "\(target): \(error)")
    }
  }

  /// Returns the client. The first call creates it.
  private func startedClient() throws(OutboundError) -> HTTPClient {
    try client.withLock { client throws(OutboundError) in
      if let client { return client }
      let started = try HTTPClient(configuration, name: "petrel-fetch")
      client = started
      return started
    }
  }
}
