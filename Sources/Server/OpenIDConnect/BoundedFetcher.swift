import OutboundHTTP
import Synchronization

/// Fetches from servers that the operator names, wherever they are, with limits: 10 seconds to the end of
/// the answer, 256 KiB, no redirects, no cookies.
public final class BoundedFetcher: Sendable {
  private let configuration: HTTPClient.Configuration
  /// Nil until the first request: a client has a thread.
  private let client = Mutex<HTTPClient?>(nil)

  /// - Parameter timeout: seconds to the end of an answer.
  public init(timeout: Double = 10) {
    var configuration = HTTPClient.Configuration()
    configuration.rules = .anywhere
    // An issuer on this machine may be without TLS; ``IssuerMetadata`` refuses it of others.
    configuration.allowsHTTP = true
    configuration.time = timeout
    configuration.answerBytes = 256 << 10
    self.configuration = configuration
  }

  deinit {
    guard let client = client.withLock({ $0 }) else { return }
    Task { await client.close() }
  }

  /// Gets a URL, or posts a form to it when there is one.
  ///
  /// - Throws: ``OpenIDError/Code/unreachable``, and ``OpenIDError/Code/badAnswer`` for an answer
  ///   that is too long.
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

  private func startedClient() throws(OutboundError) -> HTTPClient {
    try client.withLock { client throws(OutboundError) in
      if let client { return client }
      let started = try HTTPClient(configuration, name: "petrel-fetch")
      client = started
      return started
    }
  }
}
