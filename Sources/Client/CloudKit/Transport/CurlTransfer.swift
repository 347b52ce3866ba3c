#if os(Linux)
internal import CCurl
internal import HTTPTransfers

/// The answer of a request, as far as it has arrived, and the files of its body and answer.
///
/// Unchecked: after its initializer, only the thread of its loop uses the object.
final class CurlTransfer: TransferReceiver, @unchecked Sendable {
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
  /// The function that gets the number of transferred bytes.
  private let progress: @Sendable (Int64) -> Void
  private let completion: @Sendable (Result<TransportResponse, TransportFailure>) -> Void

  /// The open file of an upload.
  private var source: UnsafeMutablePointer<FILE>?
  /// The body of the answer, unless it is written to a file.
  private var answer = Data()
  /// The open file of a download.
  private var file: FileHandle?
  /// The number of bytes that were written to the file of a download.
  private var received: Int64 = 0
  /// The failure of the file of a download, such as a full disk.
  private var failure: TransportFailure?

  /// The longest timeout, in seconds: one year. Longer timeouts are shortened to this one.
  private static let longestTimeout: TimeInterval = 365 * 24 * 60 * 60

  /// Makes the receiver of a transfer.
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
  ///   - completion: Called once with the result.
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
  }

  /// Starts the transfer in a loop and returns at once; nil means that libcurl cannot be started.
  ///
  /// - Returns: A function that cancels the transfer. The function does nothing after the end of
  ///   the transfer.
  func start(in loop: TransferLoop?) -> @Sendable () -> Void {
    do throws(TransportFailure) {
      guard let loop else { throw TransportFailure(.unreachable, "libcurl cannot be started") }
      let transfer = Transfer(try request(), to: self)
      loop.start(transfer)
      return { loop.cancel(transfer) }
    } catch {
      completion(.failure(error))
      return {}
    }
  }

  // MARK: The request

  /// Makes the request; opens the file of an upload.
  ///
  /// - Throws: `unreadableFile` if the file cannot be opened.
  private func request() throws(TransportFailure) -> TransferRequest {
    var request = TransferRequest(
      url: url.absoluteString,
      texts: [
        (CURLOPT_PROTOCOLS_STR, "http,https"), (CURLOPT_REDIR_PROTOCOLS_STR, "http,https"),
        (CURLOPT_USERAGENT, "petrel-cloudkit"), (CURLOPT_CAINFO, Self.authorityFile),
        // An empty text means all encodings that libcurl can decode.
        (CURLOPT_ACCEPT_ENCODING, ""),
      ],
      numbers: [
        (CURLOPT_FOLLOWLOCATION, 1), (CURLOPT_MAXREDIRS, 16),
        (CURLOPT_CONNECTTIMEOUT_MS, Int(timeout / .milliseconds(1))),
      ])
    request.silence = timeout
    switch body {
    case nil: break
    case .bytes(let body, let contentType):
      request.body = .bytes([UInt8](body))
      request.headers = ["Content-Type: \(contentType)", "Expect:"]
    case .file(let url):
      let (source, size) = try Self.open(url)
      self.source = source
      request.body = .file(source, size)
      request.headers = ["Content-Type: application/octet-stream", "Expect:"]
    }
    return request
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

  /// Writes a part of the answer's body to the file of a download, or adds it to the body in
  /// memory.
  func receiveBody(_ bytes: UnsafeRawBufferPointer, status: Int) -> Bool {
    do {
      try openTarget(status)
      guard let file else {
        answer.append(contentsOf: bytes)
        return true
      }
      try file.write(contentsOf: Data(bytes))
      received += Int64(bytes.count)
      progress(received)
      return true
    } catch {
      failure = unwritable(error)
      return false
    }
  }

  func haveSent(_ count: Int64) {
    if case .file = body { progress(count) }
  }

  /// Closes the files and reports the result. Deletes the file of a failed download.
  func finish(_ result: Result<TransferHead, TransferFailure>) {
    if let source { fclose(source) }
    source = nil
    var answer = self.answer(result)
    if let file {
      self.file = nil
      do {
        try file.close()
      } catch {
        answer = .failure(unwritable(error))
      }
      if case .failure = answer, let target { unlink(target.path) }
    }
    completion(answer)
  }

  /// Returns the result of the request for that of its transfer.
  private func answer(
    _ result: Result<TransferHead, TransferFailure>
  ) -> Result<TransportResponse, TransportFailure> {
    if let failure { return .failure(failure) }
    switch result {
    case .success(let head):
      do {
        // If the body of the answer was empty, the file of a download does not exist yet. This call
        // creates it.
        try openTarget(head.status)
        return .success(
          TransportResponse(status: head.status, headers: head.headers, body: answer))
      } catch {
        return .failure(unwritable(error))
      }
    case .failure(let failure):
      return .failure(transportFailure(failure))
    }
  }

  /// Returns the failure with its reason for people.
  private func transportFailure(_ failure: TransferFailure) -> TransportFailure {
    let place = TransportFailure.place(url)
    let (kind, reason): (TransportFailure.Kind, String) =
      switch failure.kind {
      case .cancelled: (.cancelled, failure.summary)
      case .refused: (.unreachable, "libcurl refused the request to \(place): \(failure.summary)")
      case .hostUnknown: (.offline, "\(place) cannot be found; is there a network?")
      case .notConnected, .unusableURL:
        (.unreachable, "\(place) cannot be connected to; is a server running there?")
      case .timedOut: (.timedOut, "\(place) did not answer in time")
      case .withoutTLS:
        (
          .unreachable,
          "\(place) did not answer with TLS; does its URL begin with http: instead of https:?"
        )
      case .notTrusted: (.unreachable, "\(place) cannot be trusted: \(failure.detail)")
      case .broken: (.answerLost, "the connection to \(place) broke: \(failure.detail)")
      }
    return TransportFailure(kind, reason)
  }

  /// Returns the failure for a file that cannot be written.
  private func unwritable(_ error: any Error) -> TransportFailure {
    TransportFailure(
      .unwritableFile, "\(target?.path ?? "the answer") cannot be written: \(error)")
  }

  /// Opens the file of a download, if the answer is a success and the file is not open yet.
  private func openTarget(_ status: Int) throws {
    guard let target, file == nil, (200..<300).contains(status) else { return }
    file = try PrivateFile.make(at: target.path)
  }
}
#endif
