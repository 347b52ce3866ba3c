import CCurl
import Foundation

/// A request that libcurl carries out, with its answer so far.
///
/// Unchecked: after its initializer, only the thread of its ``TransferLoop`` uses the object.
package final class Transfer: @unchecked Sendable {
  private let request: TransferRequest
  /// The receiver; `nil` after ``finish(_:)``, because others may keep the transfer to cancel it.
  private var receiver: (any TransferReceiver)?
  /// libcurl's handle of the transfer; `nil` before ``prepare(callAgain:)`` and after
  /// ``finish(_:)``.
  private(set) var easy: UnsafeMutableRawPointer?
  private var headerList: UnsafeMutablePointer<curl_slist>?
  /// The buffer to which libcurl writes the description of a failure.
  private let failureText = UnsafeMutablePointer<CChar>.allocate(capacity: Int(CURL_ERROR_SIZE))
  /// Makes the loop call libcurl again when the present call returns.
  private var callAgain: () -> Void = {}
  /// The time at which the transfer fails, unless a byte arrives or leaves before; `nil` without a
  /// connection, and without ``TransferRequest/silence``.
  private(set) var deadline: SuspendingClock.Instant?
  private var headers: [String: String] = [:]
  private var sent: Int64 = 0

  /// Creates a transfer. It starts when a loop gets it.
  package init(_ request: TransferRequest, to receiver: any TransferReceiver) {
    self.request = request
    self.receiver = receiver
    failureText.initialize(repeating: 0, count: Int(CURL_ERROR_SIZE))
  }

  deinit {
    failureText.deallocate()
  }

  // MARK: The request

  /// Makes libcurl's handle of the request.
  func prepare(callAgain: @escaping () -> Void) throws(TransferFailure) -> UnsafeMutableRawPointer {
    guard let easy = curl_easy_init() else {
      throw TransferFailure(.refused, "libcurl is out of memory")
    }
    self.easy = easy
    self.callAgain = callAgain
    for line in request.headers { headerList = curl_slist_append(headerList, line) }
    let context = Unmanaged.passUnretained(self).toOpaque()
    let steps: [() -> CURLcode] = [
      { self.setOptions(of: easy) }, { self.setBody(of: easy) },
      { petrel_curl_set_pointer(easy, CURLOPT_ERRORBUFFER, self.failureText) },
      { petrel_curl_set_headers(easy, self.headerList) }, { self.request.setUp(easy) },
      {
        petrel_curl_set_callbacks(
          easy, context, Self.receiveBody, Self.receiveHead, Self.openSocket)
      },
      { petrel_curl_set_progress(easy, context, Self.haveSent, Self.beginRequest) },
    ]
    for code in steps.lazy.map({ $0() }) where code != CURLE_OK {
      throw TransferFailure(.refused, String(cString: curl_easy_strerror(code)))
    }
    return easy
  }

  private func setOptions(of easy: UnsafeMutableRawPointer) -> CURLcode {
    for case (let option, let text?) in [(CURLOPT_URL, request.url)] + request.texts {
      let code = petrel_curl_set_text(easy, option, text)
      if code != CURLE_OK { return code }
    }
    let numbers: [(CURLoption, Int)] = [
      (CURLOPT_NOSIGNAL, 1), (CURLOPT_PATH_AS_IS, 1),
      (CURLOPT_NOPROGRESS, request.silence == nil ? 1 : 0),
      // libcurl resolves the host's name on a thread. When the request's time is over, libcurl must
      // not wait for that thread, because all other requests of the loop would stop.
      (CURLOPT_QUICK_EXIT, 1),
    ]
    for (option, number) in numbers + request.numbers {
      let code = petrel_curl_set_long(easy, option, number)
      if code != CURLE_OK { return code }
    }
    return CURLE_OK
  }

  private func setBody(of easy: UnsafeMutableRawPointer) -> CURLcode {
    let code =
      switch request.body {
      case nil: petrel_curl_set_long(easy, CURLOPT_HTTPGET, 1)
      case .bytes(let bytes): petrel_curl_set_body(easy, bytes, bytes.count)
      case .file(let file, let size): petrel_curl_set_file(easy, file, size)
      }
    guard code == CURLE_OK, request.body != nil else { return code }
    return petrel_curl_set_long(easy, CURLOPT_POST, 1)
  }

  // MARK: The answer

  /// Returns the result of a transfer that libcurl has ended with this code.
  func result(_ code: CURLcode) -> Result<TransferHead, TransferFailure> {
    if code == CURLE_OK { return .success((status, headers)) }
    let text = String(cString: failureText).unicodeScalars.filter {
      (0x20...0x7E).contains($0.value)
    }
    let summary = String(cString: curl_easy_strerror(code))
    let detail = text.isEmpty ? summary : String(String.UnicodeScalarView(text))
    let kind: TransferFailure.Kind =
      switch code {
      case CURLE_COULDNT_RESOLVE_HOST, CURLE_COULDNT_RESOLVE_PROXY: .hostUnknown
      case CURLE_COULDNT_CONNECT: .notConnected
      case CURLE_UNSUPPORTED_PROTOCOL, CURLE_URL_MALFORMAT: .unusableURL
      case CURLE_OPERATION_TIMEDOUT: .timedOut
      case CURLE_PEER_FAILED_VERIFICATION, CURLE_SSL_CONNECT_ERROR, CURLE_SSL_CACERT_BADFILE,
        CURLE_SSL_ISSUER_ERROR, CURLE_SSL_INVALIDCERTSTATUS:
        Self.signsOfNoTLS.contains { detail.contains($0) } ? .withoutTLS : .notTrusted
      default: .broken
      }
    return .failure(TransferFailure(kind, summary, detail: detail))
  }

  /// Parts of the messages of OpenSSL and libcurl for a peer without TLS, which answers the
  /// handshake with other bytes or closes the connection.
  private static let signsOfNoTLS = ["wrong version number", "OpenSSL SSL_connect: "]

  /// Releases libcurl's handle and passes the result to the receiver.
  func finish(_ result: Result<TransferHead, TransferFailure>) {
    guard let receiver else { return }
    self.receiver = nil
    curl_easy_cleanup(easy)
    easy = nil
    curl_slist_free_all(headerList)
    headerList = nil
    receiver.finish(result)
  }

  /// The HTTP status of the answer; 0 before it has arrived.
  private var status: Int { easy.map { petrel_curl_status($0) } ?? 0 }

  /// Sets the deadline anew, because a byte has arrived or left.
  private func postponeDeadline() {
    if let silence = request.silence { deadline = .now + silence }
  }

  /// Reads a line of the answer's head: the status line or a header field.
  private func read(_ line: String) {
    // An interim answer or a redirect has a head of its own, which comes before the head of the
    // last answer.
    if line.hasPrefix("HTTP/") {
      headers = [:]
      return
    }
    guard line.utf8.allSatisfy({ $0 < 0x80 }), let colon = line.firstIndex(of: ":") else { return }
    headers[line[..<colon].lowercased()] =
      line[line.index(after: colon)...].trimmingCharacters(in: .whitespacesAndNewlines)
  }

  // MARK: Callbacks of libcurl

  private static func transfer(_ context: UnsafeMutableRawPointer?) -> Transfer? {
    context.map { Unmanaged<Transfer>.fromOpaque($0).takeUnretainedValue() }
  }

  // A result other than the number of bytes makes libcurl stop the transfer.
  private static let receiveBody: petrel_curl_receiver = { bytes, size, count, context in
    guard let bytes, let transfer = transfer(context), let receiver = transfer.receiver else {
      return 0
    }
    let part = UnsafeRawBufferPointer(start: bytes, count: size * count)
    transfer.postponeDeadline()
    return receiver.receiveBody(part, status: transfer.status)
      ? part.count : part.count + 1
  }

  private static let receiveHead: petrel_curl_receiver = { bytes, size, count, context in
    guard let bytes, let transfer = transfer(context), let receiver = transfer.receiver else {
      return 0
    }
    // Over HTTP/2, libcurl 7.88 may deliver the last field of an answer without a body before it
    // notices the end of the stream. It notices the end only in the next call.
    transfer.callAgain()
    let line = UnsafeRawBufferPointer(start: bytes, count: size * count)
    transfer.postponeDeadline()
    guard receiver.receiveHead(line.count) else { return line.count + 1 }
    transfer.read(String(decoding: line, as: UTF8.self))
    return line.count
  }

  private static let haveSent: curl_xferinfo_callback = { context, _, _, _, sent in
    guard let transfer = transfer(context), sent > 0, sent != transfer.sent else { return 0 }
    transfer.sent = Int64(sent)
    transfer.postponeDeadline()
    transfer.receiver?.haveSent(Int64(sent))
    return 0
  }

  /// Sets the first deadline when the request has a connection, which may be new or used before.
  private static let beginRequest: curl_prereq_callback = { context, _, _, _, _ in
    transfer(context)?.postponeDeadline()
    return CURL_PREREQFUNC_OK
  }

  /// Opens a socket that programs started by this program do not inherit, if the receiver allows
  /// the address. The check is here because the address of a name may change at any time.
  private static let openSocket: petrel_curl_opener = { context, _, address in
    guard let address, let transfer = transfer(context), let receiver = transfer.receiver else {
      return petrel_curl_bad_socket
    }
    guard receiver.mayConnect(to: petrel_curl_address(address)) else {
      // libcurl tries the next address when the loop calls it again. Without that call, libcurl
      // tries it only after half of the remaining time to connect.
      transfer.callAgain()
      return petrel_curl_bad_socket
    }
    return petrel_curl_open_socket(address)
  }
}
