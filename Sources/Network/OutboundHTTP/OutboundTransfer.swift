import CCurl
import Foundation
import HTTPTransfers

/// The answer of a request under way, as far as it has arrived, within the limits of an
/// ``HTTPClient``. An object is used on the thread of the client's loop only.
final class OutboundTransfer: TransferReceiver {
  /// The server of the request (``OutboundURL/origin``).
  private let origin: String
  /// The function that gets the body of an answer with status 200 to 299; `nil` to collect the
  /// body.
  private let receive: HTTPClient.Receiver?
  private let configuration: HTTPClient.Configuration
  private let completion: HTTPClient.Completion
  private var headerBytes = 0
  private var body: [UInt8] = []
  /// Whether the answer is larger than a limit, so that this object stopped the transfer.
  private var isTooLarge = false
  /// The address that libcurl tried last, if the rules refused it; `nil` if the rules allowed it or
  /// no address was tried.
  private var refused: IPAddress?

  init(
    origin: String, configuration: HTTPClient.Configuration, receive: HTTPClient.Receiver?,
    completion: @escaping HTTPClient.Completion
  ) {
    self.origin = origin
    self.configuration = configuration
    self.receive = receive
    self.completion = completion
  }

  func mayConnect(to address: UnsafePointer<sockaddr>) -> Bool {
    if configuration.socketPath != nil { return true }
    guard let target = IPAddress(address) else { return false }
    refused = configuration.rules.allow(target) ? nil : target
    return refused == nil
  }

  func receiveHead(_ count: Int) -> Bool {
    headerBytes += count
    isTooLarge = headerBytes > configuration.headerBytes
    return !isTooLarge
  }

  func receiveBody(_ bytes: UnsafeRawBufferPointer, status: Int) -> Bool {
    if let receive, (200..<300).contains(status) {
      receive(Array(bytes))
      return true
    }
    isTooLarge = body.count + bytes.count > configuration.answerBytes
    if !isTooLarge { body.append(contentsOf: bytes) }
    return !isTooLarge
  }

  func finish(_ result: Result<TransferHead, TransferFailure>) {
    completion(
      result.mapError(error).map {
        OutboundAnswer(status: $0.status, headers: $0.headers, body: body)
      })
  }

  private func error(_ failure: TransferFailure) -> OutboundError {
    if isTooLarge {
      return OutboundError(
        .answerTooLarge,
        "\(origin) sent an answer larger than \(configuration.answerBytes) bytes, or headers larger "
          + "than \(configuration.headerBytes) bytes")
    }
    if let refused {
      return OutboundError(
        .addressRefused,
        "\(origin) has the address \(refused), which is not a public address; "
          + "the configuration can allow its range")
    }
    if failure.kind == .cancelled { return HTTPClient.closed }
    let (code, what): (OutboundError.Code, String) =
      switch failure.kind {
      case .cancelled, .refused:
        (.libraryFailure, "gets no request: libcurl did not accept it: \(failure.summary)")
      case .timedOut: (.timedOut, "did not answer in time")
      case .hostUnknown: (.unreachable, "cannot be reached: \(failure.summary)")
      case .notConnected:
        (.unreachable, "cannot be reached: \(failure.summary); is a server running there?")
      case .withoutTLS:
        (.notTrusted, "does not answer with TLS; check whether its URL begins with http:")
      case .notTrusted: (.notTrusted, "cannot be trusted: \(failure.detail)")
      case .unusableURL, .broken: (.broken, "gave no answer: \(failure.summary)")
      }
    return OutboundError(code, "\(origin) \(what)")
  }
}

extension TransferRequest {
  /// The cipher suites for TLS 1.2: a new key for each connection, and authenticated encryption.
  /// All suites of TLS 1.3 are of this kind.
  private static let ciphers = "ECDHE+AESGCM:ECDHE+CHACHA20"

  /// Creates the request of a client.
  ///
  /// - Throws: ``OutboundError/Code/unsendable`` for an invalid header field.
  init(
    _ request: OutboundRequest, _ configuration: HTTPClient.Configuration,
    watchedBy guardian: FloodGuard
  ) throws(OutboundError) {
    for (name, value) in request.headers where !Self.mayBeSent(name, value) {
      throw OutboundError(
        .unsendable,
        "the header field \(name.debugDescription) for \(request.url.origin) has an invalid "
          + "name or value")
    }
    self.init(
      url: request.url.description,
      texts: [
        (CURLOPT_PROTOCOLS_STR, configuration.allowsHTTP ? "http,https" : "https"),
        // The empty text also switches off the proxy of the environment variables. With a proxy,
        // the rules would check the address of the proxy.
        (CURLOPT_PROXY, ""), (CURLOPT_USERAGENT, configuration.userAgent),
        (CURLOPT_CAINFO, configuration.authorityFile), (CURLOPT_SSL_CIPHER_LIST, Self.ciphers),
        (CURLOPT_UNIX_SOCKET_PATH, configuration.socketPath),
      ],
      numbers: [
        (CURLOPT_FOLLOWLOCATION, 0), (CURLOPT_SSL_VERIFYPEER, 1), (CURLOPT_SSL_VERIFYHOST, 2),
        (CURLOPT_SSLVERSION, Int(CURL_SSLVERSION_TLSv1_2)),
        (CURLOPT_HTTP_VERSION, CURL_HTTP_VERSION_2TLS),
        // While a connection to the server is being opened, the request waits to use it and opens
        // no further connection.
        (CURLOPT_PIPEWAIT, 1),
        (CURLOPT_CONNECTTIMEOUT_MS, Int(configuration.connectTime * 1000)),
        (CURLOPT_TIMEOUT_MS, Int(configuration.time * 1000)),
      ])
    if request.method == .post { body = .bytes(request.body) }
    headers = request.headers.map { "\($0.name): \($0.value)" } + ["Expect:", "Accept:"]
    setUp = { easy in
      let code =
        configuration.authorityFile == nil
        ? CURLE_OK : petrel_curl_set_pointer(easy, CURLOPT_CAPATH, nil)
      return code == CURLE_OK ? guardian.watch(easy) : code
    }
  }

  /// Whether a field can be sent. libcurl writes the lines unchanged: a line break would begin
  /// another field, and a NUL would cut the value off (RFC 9110 section 5.5).
  private static func mayBeSent(_ name: String, _ value: String) -> Bool {
    !name.isEmpty && name.utf8.allSatisfy { (0x21...0x7E).contains($0) && $0 != UInt8(ascii: ":") }
      && value.utf8.allSatisfy { $0 >= 0x20 && $0 != 0x7F }
  }
}
