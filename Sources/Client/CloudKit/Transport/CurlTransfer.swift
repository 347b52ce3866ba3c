#if os(Linux)
internal import CCurl

/// One request on its way and what has come of its answer.
///
/// Unchecked: after it was made it is used on the thread of its ``CurlLoop`` alone.
final class CurlTransfer: @unchecked Sendable {
  /// What is POSTed.
  enum Body {
    case bytes(Data, contentType: String)
    /// The contents of a file, as bytes of no known type.
    case file(URL)
  }

  private let url: URL
  private let body: Body?
  /// The file that the body of a good answer goes to.
  private let target: URL?
  private let timeout: Duration
  private var progress: (@Sendable (Int64) -> Void)?
  private var completion: (@Sendable (Result<TransportResponse, TransportFailure>) -> Void)?

  private(set) var easy: UnsafeMutableRawPointer?
  private var headerList: UnsafeMutablePointer<curl_slist>?
  private var source: UnsafeMutablePointer<FILE>?
  private let failureText = UnsafeMutablePointer<CChar>.allocate(capacity: Int(CURL_ERROR_SIZE))

  /// When it has been silent for too long; nil before it has a connection.
  private(set) var deadline: SuspendingClock.Instant?
  private var headers: [String: String] = [:]
  private var answer = Data()
  private var file: FileHandle?
  /// Bytes of the body so far, and of the file that is received.
  private var sent: Int64 = 0
  private var received: Int64 = 0
  /// What ends the transfer although libcurl would go on.
  private var failure: TransportFailure?

  /// A year, for timeouts without end.
  private static let longestTimeout: TimeInterval = 365 * 24 * 60 * 60

  /// - Parameters:
  ///   - body: nil makes it a GET.
  ///   - timeout: seconds to connect, and seconds without a byte in either direction after that.
  ///   - progress: is called with the number of bytes of a file that are moved so far.
  init(
    url: URL, body: Body?, target: URL?, timeout: TimeInterval,
    progress: @escaping @Sendable (Int64) -> Void,
    completion: @escaping @Sendable (Result<TransportResponse, TransportFailure>) -> Void
  ) {
    self.url = url
    self.body = body
    self.target = target
    self.timeout = .seconds(min(max(0.001, timeout), Self.longestTimeout))
    self.progress = progress
    self.completion = completion
    failureText.initialize(repeating: 0, count: Int(CURL_ERROR_SIZE))
  }

  deinit {
    failureText.deallocate()
  }

  // MARK: The request

  /// Makes libcurl's handle of the request.
  func prepare() throws(TransportFailure) -> UnsafeMutableRawPointer {
    guard let easy = curl_easy_init() else {
      throw TransportFailure(.unreachable, "libcurl is out of memory")
    }
    self.easy = easy
    var code = setOptions(of: easy)
    if code == CURLE_OK { code = try setBody(of: easy) }
    if code == CURLE_OK { code = petrel_curl_set_headers(easy, headerList) }
    if code == CURLE_OK {
      code = petrel_curl_set_callbacks(
        easy, Unmanaged.passUnretained(self).toOpaque(), Self.takeBody, Self.takeHeader,
        Self.openSocket)
    }
    if code == CURLE_OK {
      code = petrel_curl_set_progress(
        easy, Unmanaged.passUnretained(self).toOpaque(), Self.takeProgress, Self.beginRequest)
    }
    guard code == CURLE_OK else {
      throw TransportFailure(
        .unreachable,
        "libcurl takes no request to \(place): \(String(cString: curl_easy_strerror(code)))")
    }
    return easy
  }

  private func setOptions(of easy: UnsafeMutableRawPointer) -> CURLcode {
    let texts: [(CURLoption, String?)] = [
      (CURLOPT_URL, url.absoluteString), (CURLOPT_PROTOCOLS_STR, "http,https"),
      (CURLOPT_REDIR_PROTOCOLS_STR, "http,https"), (CURLOPT_USERAGENT, "petrel-cloudkit"),
      // All that libcurl knows.
      (CURLOPT_ACCEPT_ENCODING, ""), (CURLOPT_CAINFO, Self.authorityFile),
    ]
    for case (let option, let text?) in texts {
      let code = petrel_curl_set_text(easy, option, text)
      if code != CURLE_OK { return code }
    }
    let numbers: [(CURLoption, Int)] = [
      (CURLOPT_NOSIGNAL, 1), (CURLOPT_NOPROGRESS, 0), (CURLOPT_PATH_AS_IS, 1),
      (CURLOPT_FOLLOWLOCATION, 1), (CURLOPT_MAXREDIRS, 16),
      // A name server that is silent holds up no other request.
      (CURLOPT_QUICK_EXIT, 1),
      (CURLOPT_CONNECTTIMEOUT_MS, Int(timeout / .milliseconds(1))),
    ]
    for (option, number) in numbers {
      let code = petrel_curl_set_long(easy, option, number)
      if code != CURLE_OK { return code }
    }
    return petrel_curl_set_pointer(easy, CURLOPT_ERRORBUFFER, failureText)
  }

  private func setBody(of easy: UnsafeMutableRawPointer) throws(TransportFailure) -> CURLcode {
    guard let body else { return petrel_curl_set_long(easy, CURLOPT_HTTPGET, 1) }
    let type: String
    let code: CURLcode
    switch body {
    case .bytes(let bytes, let contentType):
      type = contentType
      code = petrel_curl_set_body(easy, [UInt8](bytes), bytes.count)
    case .file(let url):
      type = "application/octet-stream"
      let (source, size) = try Self.open(url)
      self.source = source
      code = petrel_curl_set_file(easy, source, size)
    }
    // A field without a value takes back the one that libcurl would send.
    for line in ["Content-Type: \(type)", "Expect:"] {
      headerList = curl_slist_append(headerList, line)
    }
    return code == CURLE_OK ? petrel_curl_set_long(easy, CURLOPT_POST, 1) : code
  }

  private static func open(
    _ file: URL
  ) throws(TransportFailure) -> (UnsafeMutablePointer<FILE>, Int) {
    var status = stat()
    guard let source = fopen(file.path, "rbe") else {
      throw TransportFailure(.unreadableFile, "\(file.path): \(String(cString: strerror(errno)))")
    }
    guard fstat(fileno(source), &status) == 0, status.st_mode & S_IFMT == S_IFREG else {
      fclose(source)
      throw TransportFailure(.unreadableFile, "\(file.path) is no file that can be read")
    }
    return (source, status.st_size)
  }

  private static let authorityFile = ProcessInfo.processInfo.environment["SSL_CERT_FILE"]
    .flatMap { $0.isEmpty ? nil : $0 }

  // MARK: The answer

  /// What came of it.
  func result(_ code: CURLcode) -> Result<TransportResponse, TransportFailure> {
    if let failure { return .failure(failure) }
    switch code {
    case CURLE_OK:
      let response = TransportResponse(status: status, headers: headers, body: answer)
      do {
        // An answer without a byte makes an empty file.
        try openTarget()
        return .success(response)
      } catch {
        return .failure(unwritable(error))
      }
    case CURLE_COULDNT_RESOLVE_HOST, CURLE_COULDNT_RESOLVE_PROXY:
      return failure(.offline, "\(place) cannot be found; is there a network?")
    case CURLE_COULDNT_CONNECT, CURLE_UNSUPPORTED_PROTOCOL, CURLE_URL_MALFORMAT:
      return failure(.unreachable, "\(place) cannot be connected to")
    case CURLE_OPERATION_TIMEDOUT:
      return failure(.timedOut, "\(place) did not answer in time")
    case CURLE_PEER_FAILED_VERIFICATION, CURLE_SSL_CONNECT_ERROR, CURLE_SSL_CACERT_BADFILE,
      CURLE_SSL_ISSUER_ERROR, CURLE_SSL_INVALIDCERTSTATUS:
      let flaw = detail(of: code)
      // What OpenSSL and libcurl say of a server that answers a handshake with something else, or closes the connection, as
      // a plain one does.
      guard !flaw.contains("wrong version number"), !flaw.contains("OpenSSL SSL_connect: ") else {
        return failure(
          .unreachable, "\(place) does not answer in TLS; is its address http: and not https:?")
      }
      return failure(.unreachable, "\(place) cannot be trusted: \(flaw)")
    default:
      return failure(.answerLost, "the connection to \(place) broke: \(detail(of: code))")
    }
  }

  /// Gives back what the transfer holds, and tells its outcome. A download that failed leaves no file.
  func finish(_ result: Result<TransportResponse, TransportFailure>) {
    guard let completion else { return }
    self.completion = nil
    progress = nil
    curl_easy_cleanup(easy)
    easy = nil
    curl_slist_free_all(headerList)
    headerList = nil
    if let source { fclose(source) }
    source = nil
    var result = result
    if let file {
      self.file = nil
      do {
        try file.close()
      } catch {
        result = .failure(unwritable(error))
      }
      if case .failure = result, let target { unlink(target.path) }
    }
    completion(result)
  }

  private var status: Int { easy.map { petrel_curl_status($0) } ?? 0 }

  private var place: String { TransportFailure.place(url) }

  private func failure(
    _ kind: TransportFailure.Kind, _ reason: String
  ) -> Result<TransportResponse, TransportFailure> {
    .failure(TransportFailure(kind, reason))
  }

  /// What libcurl says of this failure, or of all of its kind.
  private func detail(of code: CURLcode) -> String {
    failureText.pointee == 0
      ? String(cString: curl_easy_strerror(code)) : String(cString: failureText)
  }

  private func unwritable(_ error: any Error) -> TransportFailure {
    TransportFailure(
      .unwritableFile, "\(target?.path ?? "the answer") cannot be written: \(error)")
  }

  private func openTarget() throws {
    guard let target, file == nil, (200..<300).contains(status) else { return }
    file = try PrivateFile.make(at: target.path)
  }

  private func note() {
    deadline = .now + timeout
  }

  private func take(_ bytes: UnsafeRawBufferPointer) throws {
    note()
    try openTarget()
    guard let file else { return answer.append(contentsOf: bytes) }
    try file.write(contentsOf: Data(bytes))
    received += Int64(bytes.count)
    progress?(received)
  }

  private func take(line: String) {
    note()
    // The status line of an answer, perhaps after an interim one or a redirect.
    if line.hasPrefix("HTTP/") {
      headers = [:]
      return
    }
    guard let colon = line.firstIndex(of: ":") else { return }
    headers[line[..<colon].lowercased()] =
      line[line.index(after: colon)...].trimmingCharacters(in: .whitespacesAndNewlines)
  }

  private func take(sent count: Int64) {
    guard count > 0, count != sent else { return }
    sent = count
    note()
    if case .file = body { progress?(count) }
  }

  // MARK: Callbacks of libcurl

  private static func transfer(_ context: UnsafeMutableRawPointer?) -> CurlTransfer? {
    context.map { Unmanaged<CurlTransfer>.fromOpaque($0).takeUnretainedValue() }
  }

  /// Another number than the one of the bytes makes libcurl break off.
  private static let takeBody: petrel_curl_receiver = { bytes, size, count, context in
    guard let bytes, let transfer = transfer(context) else { return 0 }
    do {
      try transfer.take(UnsafeRawBufferPointer(start: bytes, count: size * count))
      return size * count
    } catch {
      transfer.failure = transfer.unwritable(error)
      return size * count + 1
    }
  }

  private static let takeHeader: petrel_curl_receiver = { bytes, size, count, context in
    guard let bytes, let transfer = transfer(context) else { return 0 }
    transfer.take(
      line: String(
        decoding: UnsafeRawBufferPointer(start: bytes, count: size * count), as: UTF8.self))
    return size * count
  }

  private static let takeProgress: curl_xferinfo_callback = { context, _, _, _, sent in
    transfer(context)?.take(sent: Int64(sent))
    return 0
  }

  /// There is a connection, a new one or one that is used again.
  private static let beginRequest: curl_prereq_callback = { context, _, _, _, _ in
    transfer(context)?.note()
    return CURL_PREREQFUNC_OK
  }

  /// A socket that no program inherits which this one starts.
  private static let openSocket: petrel_curl_opener = { _, _, address in
    address.map { petrel_curl_open_socket($0) } ?? petrel_curl_bad_socket
  }
}
#endif
