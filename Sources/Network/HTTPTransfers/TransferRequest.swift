import CCurl
import Foundation

/// A request for libcurl, with the options that differ between its users.
package struct TransferRequest {
  /// The body of a POST.
  package enum Body {
    case bytes([UInt8])
    /// An open file and its size in bytes. It must stay open until the transfer has ended.
    case file(UnsafeMutablePointer<FILE>, Int)
  }

  package var url: String
  /// The body; `nil` for a GET.
  package var body: Body?
  /// The lines of header fields, `name: value`. A line without a value removes the field that
  /// libcurl would add.
  package var headers: [String] = []
  /// Options of libcurl; `nil` for its default.
  package var texts: [(CURLoption, String?)]
  package var numbers: [(CURLoption, Int)]
  /// The longest time without a byte in either direction, once there is a connection; `nil` for no
  /// limit.
  package var silence: Duration?
  /// Sets further options of the transfer, whose handle it gets.
  package var setUp: (UnsafeMutableRawPointer) -> CURLcode = { _ in CURLE_OK }

  package init(
    url: String, texts: [(CURLoption, String?)], numbers: [(CURLoption, Int)]
  ) {
    (self.url, self.texts, self.numbers) = (url, texts, numbers)
  }
}

/// The receiver of a transfer's answer. The ``TransferLoop`` calls its methods on its thread.
package protocol TransferReceiver: AnyObject {
  /// Whether the transfer may connect to this address.
  func mayConnect(to address: UnsafePointer<sockaddr>) -> Bool
  /// Takes note of a line of the answer's head. Returns false to stop the transfer.
  func receiveHead(_ count: Int) -> Bool
  /// Takes a part of the body of an answer with this status. Returns false to stop the transfer.
  func receiveBody(_ bytes: UnsafeRawBufferPointer, status: Int) -> Bool
  /// Takes the number of bytes of the request's body that were sent so far, if the request has a
  /// ``TransferRequest/silence``.
  func haveSent(_ count: Int64)
  /// Takes the end of the transfer. The loop calls the method once.
  func finish(_ result: Result<TransferHead, TransferFailure>)
}

extension TransferReceiver {
  package func mayConnect(to address: UnsafePointer<sockaddr>) -> Bool { true }
  package func receiveHead(_ count: Int) -> Bool { true }
  package func haveSent(_ count: Int64) {}
}

/// The HTTP status and the header fields of an answer, with names in lower case. Of several fields
/// with one name, the last one is here. Lines with other characters than ASCII are left out.
package typealias TransferHead = (status: Int, headers: [String: String])

/// The reason why a transfer has no answer.
package struct TransferFailure: Error {
  /// The kind of a failure.
  package enum Kind: Sendable {
    /// The transfer was cancelled, or its loop closed.
    case cancelled
    /// libcurl has no memory, or refuses the request.
    case refused
    /// libcurl cannot use the URL.
    case unusableURL
    case hostUnknown
    case notConnected
    case timedOut
    /// The peer's certificate is not trusted, or the TLS handshake failed.
    case notTrusted
    /// The peer does not answer with TLS.
    case withoutTLS
    /// The connection broke, the answer is not HTTP, or the receiver stopped the transfer.
    case broken
  }

  package var kind: Kind
  /// libcurl's description of its result.
  package var summary: String
  /// libcurl's description of this failure in printable ASCII, which may contain names that the
  /// peer chose. If there is none, the ``summary``.
  package var detail: String

  init(_ kind: Kind, _ summary: String, detail: String? = nil) {
    (self.kind, self.summary, self.detail) = (kind, summary, detail ?? summary)
  }
}
