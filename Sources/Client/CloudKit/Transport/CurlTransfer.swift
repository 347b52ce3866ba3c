#if os(Linux)
internal import CCurl

/// A request that libcurl carries out, and the part of its answer that has arrived.
///
/// Unchecked: after its initializer, only the thread of its ``CurlLoop`` uses the object.
final class CurlTransfer: @unchecked Sendable {
  /// The body of a POST.
  enum Body {
    /// Bytes in memory.
    case bytes(Data, contentType: String)
    /// The contents of a file, sent as `application/octet-stream`.
    case file(URL)
  }

  private let url: URL
  /// The body; nil for a GET.
  private let body: Body?
  /// The file to which the body of an answer with a status of 200–299 is written. With nil, the
  /// body stays in memory.
  private let target: URL?
  /// The longest time to connect, and afterwards the longest time without a byte in either
  /// direction.
  private let timeout: Duration
  /// The function that gets the number of transferred bytes; nil after the end.
  private var progress: (@Sendable (Int64) -> Void)?
  /// The function that gets the result; nil after the end.
  private var completion: (@Sendable (Result<TransportResponse, TransportFailure>) -> Void)?

  /// libcurl's handle of the transfer; nil before ``prepare()`` and after ``finish(_:)``.
  private(set) var easy: UnsafeMutableRawPointer?
  /// The headers of the request, as libcurl's list.
  private var headerList: UnsafeMutablePointer<curl_slist>?
  /// The open file of an upload.
  private var source: UnsafeMutablePointer<FILE>?
  /// The buffer to which libcurl writes the description of a failure.
  private let failureText = UnsafeMutablePointer<CChar>.allocate(capacity: Int(CURL_ERROR_SIZE))

  /// The time at which the transfer fails with `timedOut`, unless a byte arrives or leaves before.
  /// Nil until the transfer has a connection.
  private(set) var deadline: SuspendingClock.Instant?
  /// The headers of the answer, with names in lower case.
  private var headers: [String: String] = [:]
  /// The body of the answer, unless it is written to a file.
  private var answer = Data()
  /// The open file of a download.
  private var file: FileHandle?
  /// The number of bytes of the request's body that were sent.
  private var sent: Int64 = 0
  /// The number of bytes that were written to the file of a download.
  private var received: Int64 = 0
  /// A failure that libcurl does not report, such as a full disk.
  private var failure: TransportFailure?

  /// The longest timeout, in seconds: one year. Longer timeouts are shortened to this one.
  private static let longestTimeout: TimeInterval = 365 * 24 * 60 * 60

  /// Makes a transfer, which a ``CurlLoop`` then starts.
  ///
  /// - Parameters:
  ///   - url: The URL of the request.
  ///   - body: The body of a POST; nil makes the request a GET.
  ///   - target: The file to which the body of a successful answer is written; nil keeps the body
  ///     in memory.
  ///   - timeout: The seconds to connect, and afterwards the seconds without a byte in either
  ///     direction. The transfer uses a value from 0.001 seconds to one year.
  ///   - progress: Called on the loop's thread with the number of bytes of a file that are
  ///     transferred so far.
  ///   - completion: Called once with the result, on the loop's thread.
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
  ///
  /// - Throws: `unreadableFile` if the file of an upload cannot be opened. `unreachable` if libcurl
  ///   has no memory or refuses an option.
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
        "libcurl refused the request to \(place): \(String(cString: curl_easy_strerror(code)))")
    }
    return easy
  }

  /// Sets the options that do not depend on the body.
  private func setOptions(of easy: UnsafeMutableRawPointer) -> CURLcode {
    let texts: [(CURLoption, String?)] = [
      (CURLOPT_URL, url.absoluteString), (CURLOPT_PROTOCOLS_STR, "http,https"),
      (CURLOPT_REDIR_PROTOCOLS_STR, "http,https"), (CURLOPT_USERAGENT, "petrel-cloudkit"),
      // An empty text means all encodings that libcurl can decode.
      (CURLOPT_ACCEPT_ENCODING, ""), (CURLOPT_CAINFO, Self.authorityFile),
    ]
    for case (let option, let text?) in texts {
      let code = petrel_curl_set_text(easy, option, text)
      if code != CURLE_OK { return code }
    }
    let numbers: [(CURLoption, Int)] = [
      (CURLOPT_NOSIGNAL, 1), (CURLOPT_NOPROGRESS, 0), (CURLOPT_PATH_AS_IS, 1),
      (CURLOPT_FOLLOWLOCATION, 1), (CURLOPT_MAXREDIRS, 16),
      // Without this option, a name server that does not answer would delay other requests.
      (CURLOPT_QUICK_EXIT, 1),
      (CURLOPT_CONNECTTIMEOUT_MS, Int(timeout / .milliseconds(1))),
    ]
    for (option, number) in numbers {
      let code = petrel_curl_set_long(easy, option, number)
      if code != CURLE_OK { return code }
    }
    return petrel_curl_set_pointer(easy, CURLOPT_ERRORBUFFER, failureText)
  }

  /// Sets the body and its headers; opens the file of an upload.
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
    // The line `Expect:` without a value removes the header that libcurl would send.
    for line in ["Content-Type: \(type)", "Expect:"] {
      headerList = curl_slist_append(headerList, line)
    }
    return code == CURLE_OK ? petrel_curl_set_long(easy, CURLOPT_POST, 1) : code
  }

  /// Opens a file to read.
  ///
  /// - Returns: The file and its size in bytes.
  /// - Throws: `unreadableFile` if the file cannot be opened or is no regular file.
  private static func open(
    _ file: URL
  ) throws(TransportFailure) -> (UnsafeMutablePointer<FILE>, Int) {
    var status = stat()
    guard let source = fopen(file.path, "rbe") else {
      throw TransportFailure(.unreadableFile, "\(file.path): \(String(cString: strerror(errno)))")
    }
    guard fstat(fileno(source), &status) == 0, status.st_mode & S_IFMT == S_IFREG else {
      fclose(source)
      throw TransportFailure(.unreadableFile, "\(file.path) is not a file that can be read")
    }
    return (source, status.st_size)
  }

  /// The path in the environment variable `SSL_CERT_FILE`: a file with the certificates to trust.
  /// Nil means the system's certificates.
  private static let authorityFile = ProcessInfo.processInfo.environment["SSL_CERT_FILE"]
    .flatMap { $0.isEmpty ? nil : $0 }

  // MARK: The answer

  /// Returns the result of a transfer that libcurl has ended with this code.
  func result(_ code: CURLcode) -> Result<TransportResponse, TransportFailure> {
    if let failure { return .failure(failure) }
    switch code {
    case CURLE_OK:
      let response = TransportResponse(status: status, headers: headers, body: answer)
      do {
        // If the body of the answer was empty, the file of a download does not exist yet. This call
        // creates it.
        try openTarget()
        return .success(response)
      } catch {
        return .failure(unwritable(error))
      }
    case CURLE_COULDNT_RESOLVE_HOST, CURLE_COULDNT_RESOLVE_PROXY:
      return failure(.offline, "\(place) cannot be found; is there a network?")
    case CURLE_COULDNT_CONNECT, CURLE_UNSUPPORTED_PROTOCOL, CURLE_URL_MALFORMAT:
      return failure(.unreachable, "\(place) cannot be connected to; is a server running there?")
    case CURLE_OPERATION_TIMEDOUT:
      return failure(.timedOut, "\(place) did not answer in time")
    case CURLE_PEER_FAILED_VERIFICATION, CURLE_SSL_CONNECT_ERROR, CURLE_SSL_CACERT_BADFILE,
      CURLE_SSL_ISSUER_ERROR, CURLE_SSL_INVALIDCERTSTATUS:
      let flaw = detail(of: code)
      // OpenSSL and libcurl report these texts if a server answers a TLS handshake with other bytes
      // or closes the connection. A server without TLS does one of them.
      guard !flaw.contains("wrong version number"), !flaw.contains("OpenSSL SSL_connect: ") else {
        return failure(
          .unreachable,
          "\(place) did not answer with TLS; does its URL begin with http: instead of https:?")
      }
      return failure(.unreachable, "\(place) cannot be trusted: \(flaw)")
    default:
      return failure(.answerLost, "the connection to \(place) broke: \(detail(of: code))")
    }
  }

  /// Releases the resources of the transfer and reports its result. Deletes the file of a failed
  /// download.
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

  /// The HTTP status of the answer; 0 before it has arrived.
  private var status: Int { easy.map { petrel_curl_status($0) } ?? 0 }

  /// The host and port, for error messages.
  private var place: String { TransportFailure.place(url) }

  /// Returns a failure with a reason.
  private func failure(
    _ kind: TransportFailure.Kind, _ reason: String
  ) -> Result<TransportResponse, TransportFailure> {
    .failure(TransportFailure(kind, reason))
  }

  /// Returns libcurl's description of this failure. If there is none, returns the general
  /// description of the code.
  private func detail(of code: CURLcode) -> String {
    failureText.pointee == 0
      ? String(cString: curl_easy_strerror(code)) : String(cString: failureText)
  }

  /// Returns the failure for a file that cannot be written.
  private func unwritable(_ error: any Error) -> TransportFailure {
    TransportFailure(
      .unwritableFile, "\(target?.path ?? "the answer") cannot be written: \(error)")
  }

  /// Opens the file of a download, if the answer is a success and the file is not open yet.
  private func openTarget() throws {
    guard let target, file == nil, (200..<300).contains(status) else { return }
    file = try PrivateFile.make(at: target.path)
  }

  /// Sets the deadline anew, because a byte has arrived or left.
  private func note() {
    deadline = .now + timeout
  }

  /// Writes a part of the answer's body to the file of a download, or adds it to the body in
  /// memory.
  private func take(_ bytes: UnsafeRawBufferPointer) throws {
    note()
    try openTarget()
    guard let file else { return answer.append(contentsOf: bytes) }
    try file.write(contentsOf: Data(bytes))
    received += Int64(bytes.count)
    progress?(received)
  }

  /// Reads a line of the answer's head: the status line or a header.
  private func take(line: String) {
    note()
    // An interim answer or a redirect has a head of its own, which comes before the head of the
    // last answer. Each status line therefore deletes the headers so far.
    if line.hasPrefix("HTTP/") {
      headers = [:]
      return
    }
    guard let colon = line.firstIndex(of: ":") else { return }
    headers[line[..<colon].lowercased()] =
      line[line.index(after: colon)...].trimmingCharacters(in: .whitespacesAndNewlines)
  }

  /// Records the number of bytes of the request's body that were sent so far.
  private func take(sent count: Int64) {
    guard count > 0, count != sent else { return }
    sent = count
    note()
    if case .file = body { progress?(count) }
  }

  // MARK: Callbacks of libcurl

  /// Returns the transfer to which a callback of libcurl belongs.
  private static func transfer(_ context: UnsafeMutableRawPointer?) -> CurlTransfer? {
    context.map { Unmanaged<CurlTransfer>.fromOpaque($0).takeUnretainedValue() }
  }

  /// Passes a part of the body to the transfer and returns its number of bytes. After a failure,
  /// the function returns another number, which stops the transfer.
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

  /// Passes a line of the head to the transfer.
  private static let takeHeader: petrel_curl_receiver = { bytes, size, count, context in
    guard let bytes, let transfer = transfer(context) else { return 0 }
    transfer.take(
      line: String(
        decoding: UnsafeRawBufferPointer(start: bytes, count: size * count), as: UTF8.self))
    return size * count
  }

  /// Passes the number of bytes that were sent so far to the transfer.
  private static let takeProgress: curl_xferinfo_callback = { context, _, _, _, sent in
    transfer(context)?.take(sent: Int64(sent))
    return 0
  }

  /// Sets the first deadline when the request has a connection, which may be new or used before.
  private static let beginRequest: curl_prereq_callback = { context, _, _, _, _ in
    transfer(context)?.note()
    return CURL_PREREQFUNC_OK
  }

  /// Opens a socket that programs started by this program do not inherit.
  private static let openSocket: petrel_curl_opener = { _, _, address in
    address.map { petrel_curl_open_socket($0) } ?? petrel_curl_bad_socket
  }
}
#endif
