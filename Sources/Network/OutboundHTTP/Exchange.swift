import CCurl
import Foundation

/// A request under way with its answer so far: one transfer of libcurl, the C library for HTTP. An
/// exchange is used on the thread of its ``HTTPClient`` only.
final class Exchange {
  /// libcurl's handle of the transfer, which this object owns.
  let easy: UnsafeMutableRawPointer
  /// The server of the request (``OutboundURL/origin``).
  let origin: String
  let completion: HTTPClient.Completion
  /// Makes the client call libcurl again when the present call returns.
  private let callAgain: () -> Void
  /// The function that gets the body of an answer with status 200 to 299; `nil` to collect the
  /// body.
  private let receive: HTTPClient.Receiver?
  private let configuration: HTTPClient.Configuration
  /// A buffer for libcurl's description of a failure.
  private let failureText: UnsafeMutablePointer<CChar>
  private var headerList: UnsafeMutablePointer<curl_slist>?
  /// The header fields so far, with names in lower case.
  private var headers: [String: String] = [:]
  private var headerBytes = 0
  private var body: [UInt8] = []
  /// Whether the answer is larger than a limit, so that this object cancelled the transfer.
  private var isTooLarge = false
  /// The address that the client tried last, if the rules refused it; `nil` if the rules allowed it
  /// or no address was tried.
  private var refused: IPAddress?

  /// Prepares the transfer. It starts when the client adds ``easy`` to libcurl.
  ///
  /// - Parameters:
  ///   - callAgain: makes the client call libcurl again when the present call returns. It runs on
  ///     the client's thread.
  ///   - receive: receives the body of an answer with status 200 to 299 in pieces; `nil` to collect
  ///     the body.
  /// - Throws: ``OutboundError/Code/unsendable`` for an invalid header field;
  ///   ``OutboundError/Code/libraryFailure`` if libcurl refuses an option or has no memory.
  init(
    _ request: OutboundRequest, configuration: HTTPClient.Configuration, floodGuard: FloodGuard,
    callAgain: @escaping () -> Void, receive: HTTPClient.Receiver? = nil,
    completion: @escaping HTTPClient.Completion
  ) throws(OutboundError) {
    for (name, value) in request.headers where !Self.mayBeSent(name, value) {
      throw OutboundError(
        .unsendable,
        "the header field \(name.debugDescription) for \(request.url.origin) has an invalid "
          + "name or value")
    }
    guard let easy = curl_easy_init() else {
      throw OutboundError(.libraryFailure, "libcurl is out of memory")
    }
    self.easy = easy
    failureText = .allocate(capacity: Int(CURL_ERROR_SIZE))
    failureText.initialize(repeating: 0, count: Int(CURL_ERROR_SIZE))
    self.configuration = configuration
    self.completion = completion
    self.callAgain = callAgain
    self.receive = receive
    origin = request.url.origin
    // A line with a name and no value removes the header field that libcurl would add.
    for line in request.headers.map({ "\($0.name): \($0.value)" }) + ["Expect:", "Accept:"] {
      headerList = curl_slist_append(headerList, line)
    }
    var code = setOptions(configuration)
    if code == CURLE_OK {
      code = petrel_curl_set_text(easy, CURLOPT_URL, request.url.description)
    }
    switch request.method {
    case .get:
      if code == CURLE_OK { code = petrel_curl_set_long(easy, CURLOPT_HTTPGET, 1) }
    case .post:
      if code == CURLE_OK { code = petrel_curl_set_long(easy, CURLOPT_POST, 1) }
      if code == CURLE_OK {
        code = petrel_curl_set_body(easy, request.body, request.body.count)
      }
    }
    if code == CURLE_OK {
      code = petrel_curl_set_pointer(easy, CURLOPT_ERRORBUFFER, failureText)
    }
    if code == CURLE_OK { code = petrel_curl_set_headers(easy, headerList) }
    if code == CURLE_OK { code = floodGuard.watch(easy) }
    if code == CURLE_OK {
      code = petrel_curl_set_callbacks(
        easy, Unmanaged.passUnretained(self).toOpaque(), Self.takeBody, Self.takeHeader,
        Self.openSocket)
    }
    guard code == CURLE_OK else {
      throw OutboundError(
        .libraryFailure,
        "libcurl did not accept the request: \(String(cString: curl_easy_strerror(code)))")
    }
  }

  deinit {
    curl_easy_cleanup(easy)
    failureText.deallocate()
    curl_slist_free_all(headerList)
  }

  /// Whether a field can be sent. libcurl writes the lines unchanged: a line break would begin
  /// another field, and a NUL would cut the value off (RFC 9110 section 5.5).
  private static func mayBeSent(_ name: String, _ value: String) -> Bool {
    !name.isEmpty && name.utf8.allSatisfy { (0x21...0x7E).contains($0) && $0 != UInt8(ascii: ":") }
      && value.utf8.allSatisfy { $0 >= 0x20 && $0 != 0x7F }
  }

  /// The cipher suites for TLS 1.2: a new key for each connection, and authenticated encryption.
  /// All suites of TLS 1.3 are of this kind.
  private static let ciphers = "ECDHE+AESGCM:ECDHE+CHACHA20"

  /// Sets the options that are the same for all requests.
  ///
  /// - Returns: the first failure, or `CURLE_OK`.
  private func setOptions(_ configuration: HTTPClient.Configuration) -> CURLcode {
    let protocols = configuration.allowsHTTP ? "http,https" : "https"
    let texts: [(CURLoption, String?)] = [
      (CURLOPT_PROTOCOLS_STR, protocols),
      // The empty text also switches off the proxy of the environment variables. With a proxy, the
      // rules would check the address of the proxy.
      (CURLOPT_PROXY, ""), (CURLOPT_USERAGENT, configuration.userAgent),
      (CURLOPT_CAINFO, configuration.authorityFile), (CURLOPT_SSL_CIPHER_LIST, Self.ciphers),
      (CURLOPT_UNIX_SOCKET_PATH, configuration.socketPath),
    ]
    for case (let option, let text?) in texts {
      let code = petrel_curl_set_text(easy, option, text)
      if code != CURLE_OK { return code }
    }
    if configuration.authorityFile != nil {
      let code = petrel_curl_set_pointer(easy, CURLOPT_CAPATH, nil)
      if code != CURLE_OK { return code }
    }
    let numbers: [(CURLoption, Int)] = [
      (CURLOPT_NOSIGNAL, 1), (CURLOPT_FOLLOWLOCATION, 0),
      // libcurl resolves the host's name on a thread. When the request's time is over, libcurl must
      // not wait for that thread, because all other requests of the client would stop.
      (CURLOPT_QUICK_EXIT, 1),
      (CURLOPT_SSL_VERIFYPEER, 1), (CURLOPT_SSL_VERIFYHOST, 2),
      (CURLOPT_SSLVERSION, Int(CURL_SSLVERSION_TLSv1_2)),
      (CURLOPT_HTTP_VERSION, CURL_HTTP_VERSION_2TLS),
      // While a connection to the server is being opened, the request waits to use it and opens no
      // further connection.
      (CURLOPT_PIPEWAIT, 1), (CURLOPT_PATH_AS_IS, 1),
      (CURLOPT_CONNECTTIMEOUT_MS, Int(configuration.connectTime * 1000)),
      (CURLOPT_TIMEOUT_MS, Int(configuration.time * 1000)),
    ]
    for (option, number) in numbers {
      let code = petrel_curl_set_long(easy, option, number)
      if code != CURLE_OK { return code }
    }
    return CURLE_OK
  }

  /// Returns the result of the ended transfer: the answer, or the error for libcurl's result code.
  func result(_ code: CURLcode) -> Result<OutboundAnswer, OutboundError> {
    if code == CURLE_OK {
      let status = petrel_curl_status(easy)
      return .success(OutboundAnswer(status: status, headers: headers, body: body))
    }
    let detail = String(cString: curl_easy_strerror(code))
    func failure(_ code: OutboundError.Code, _ what: String) -> OutboundError {
      OutboundError(code, "\(origin) \(what)")
    }
    if isTooLarge {
      return .failure(
        failure(
          .answerTooLarge,
          "sent an answer larger than \(configuration.answerBytes) bytes, or headers larger than "
            + "\(configuration.headerBytes) bytes"))
    }
    if let refused {
      return .failure(
        failure(
          .addressRefused,
          "has the address \(refused), which is not a public address; "
            + "the configuration can allow its range"))
    }
    switch code {
    case CURLE_OPERATION_TIMEDOUT:
      return .failure(failure(.timedOut, "did not answer in time"))
    case CURLE_COULDNT_RESOLVE_HOST:
      return .failure(failure(.unreachable, "cannot be reached: \(detail)"))
    case CURLE_COULDNT_CONNECT:
      return .failure(
        failure(.unreachable, "cannot be reached: \(detail); is a server running there?"))
    case CURLE_PEER_FAILED_VERIFICATION, CURLE_SSL_CONNECT_ERROR, CURLE_SSL_CACERT_BADFILE,
      CURLE_SSL_ISSUER_ERROR, CURLE_SSL_INVALIDCERTSTATUS:
      let flaw = trustFlaw ?? detail
      guard !Self.signsOfNoTLS.contains(where: { flaw.contains($0) }) else {
        return .failure(
          failure(.notTrusted, "does not answer with TLS; check whether its URL begins with http:"))
      }
      return .failure(failure(.notTrusted, "cannot be trusted: \(flaw)"))
    default:
      return .failure(failure(.broken, "gave no answer: \(detail)"))
    }
  }

  /// Parts of the messages of OpenSSL and libcurl for a peer without TLS, which answers the
  /// handshake with other bytes or closes the connection.
  private static let signsOfNoTLS = ["wrong version number", "OpenSSL SSL_connect: "]

  /// libcurl's description of the problem with the peer's certificate or TLS, in printable ASCII.
  /// It may contain names that the peer chose.
  private var trustFlaw: String? {
    let text = String(cString: failureText).unicodeScalars.filter {
      (0x20...0x7E).contains($0.value)
    }
    return text.isEmpty ? nil : String(String.UnicodeScalarView(text))
  }

  // MARK: Callbacks of libcurl

  /// Returns the exchange that the context of a callback points to.
  private static func exchange(_ context: UnsafeMutableRawPointer?) -> Exchange? {
    context.map { Unmanaged<Exchange>.fromOpaque($0).takeUnretainedValue() }
  }

  /// Adds a piece to the body, or passes the piece to the receiver. A result other than the number
  /// of bytes makes libcurl cancel the transfer.
  private static let takeBody: petrel_curl_receiver = { bytes, size, count, context in
    guard let bytes, let exchange = exchange(context) else { return 0 }
    let count = size * count
    if let receive = exchange.receive, (200..<300).contains(petrel_curl_status(exchange.easy)) {
      receive(Array(UnsafeRawBufferPointer(start: bytes, count: count)))
      return count
    }
    guard exchange.body.count + count <= exchange.configuration.answerBytes else {
      exchange.isTooLarge = true
      return count + 1
    }
    exchange.body.append(
      contentsOf: UnsafeRawBufferPointer(start: bytes, count: count))
    return count
  }

  /// Reads a line of the answer's head. A result other than the number of bytes makes libcurl
  /// cancel the transfer.
  private static let takeHeader: petrel_curl_receiver = { bytes, size, count, context in
    guard let bytes, let exchange = exchange(context) else { return 0 }
    // Over HTTP/2, libcurl 7.88 may deliver the last field of an answer without a body before it
    // notices the end of the stream. It notices the end only in the next call.
    exchange.callAgain()
    let count = size * count
    exchange.headerBytes += count
    guard exchange.headerBytes <= exchange.configuration.headerBytes else {
      exchange.isTooLarge = true
      return count + 1
    }
    exchange.take(
      line: String(decoding: UnsafeRawBufferPointer(start: bytes, count: count), as: UTF8.self))
    return count
  }

  /// Records the header field in a line. Of several fields with the same name, the last one counts.
  private func take(line: String) {
    // A status line begins an answer. The fields before it belong to an interim answer (1xx).
    if line.hasPrefix("HTTP/") {
      headers = [:]
      return
    }
    // The fields that Petrel reads are in ASCII.
    guard line.utf8.allSatisfy({ $0 < 0x80 }), let colon = line.firstIndex(of: ":") else { return }
    let value = line[line.index(after: colon)...]
    headers[line[..<colon].lowercased()] = value.trimmingCharacters(in: .whitespacesAndNewlines)
  }

  /// Opens the socket for an address, if the rules allow it. The check is here because the address
  /// of a name may have changed since the URL was registered.
  private static let openSocket: petrel_curl_opener = { context, purpose, address in
    guard let address, let exchange = exchange(context) else { return petrel_curl_bad_socket }
    if exchange.configuration.socketPath != nil { return petrel_curl_open_socket(address) }
    guard let target = IPAddress(petrel_curl_address(address)) else {
      return petrel_curl_bad_socket
    }
    guard exchange.configuration.rules.allow(target) else {
      exchange.refused = target
      // libcurl tries the next address when the client calls it again. Without that call, libcurl
      // tries it only after half of the remaining time to connect.
      exchange.callAgain()
      return petrel_curl_bad_socket
    }
    exchange.refused = nil
    return petrel_curl_open_socket(address)
  }
}
