import Foundation
import HTTP2Transport

extension HTTP2Request {
  /// Creates the request that asks APNs to deliver a push: its path, its ``Push/headers`` and its
  /// payload.
  ///
  /// Header compression (HPACK, RFC 7541) keeps a small table of fields that were sent before. Only
  /// fields that many pushes share enter the table. `apns-expiration` and `apns-id` do not, because
  /// their new values would displace the shared fields.
  ///
  /// The bytes of the path and the numbers are written directly into the buffer of the header
  /// fields, without strings in between.
  ///
  /// - Parameter authorization: The value of the `authorization` field: `bearer`, a space and the
  ///   provider token. `nil` if the connection uses a certificate.
  init(_ push: Push, authorization: String?) {
    self.init(method: "POST", body: push.payload.bytes) { bytes in
      bytes.append(contentsOf: Push.pathPrefix.utf8)
      bytes.append(contentsOf: push.deviceToken.utf8)
    }
    if let authorization { headers.append("authorization", authorization) }
    headers.append("apns-topic", push.topic)
    headers.append("apns-push-type", push.kind.rawValue)
    headers.append("apns-priority") { $0.append(decimal: Int64(push.kind.priority)) }
    headers.append("apns-expiration", indexed: false) {
      $0.append(decimal: push.expirationSeconds)
    }
    headers.append("apns-id", indexed: false) { $0.append(lowercased: push.identifier) }
    if let collapseID = push.collapseID { headers.append("apns-collapse-id", collapseID) }
  }
}

extension [UInt8] {
  fileprivate mutating func append(decimal number: Int64) {
    if number < 0 { append(UInt8(ascii: "-")) }
    let start = count
    var rest = number.magnitude
    repeat {
      append(UInt8(ascii: "0") + UInt8(rest % 10))
      rest /= 10
    } while rest > 0
    self[start...].reverse()
  }

  /// Appends the text of a UUID in lower case: 8-4-4-4-12 hexadecimal digits.
  fileprivate mutating func append(lowercased identifier: UUID) {
    Swift.withUnsafeBytes(of: identifier.uuid) { identifier in
      for (index, byte) in identifier.enumerated() {
        if index == 4 || index == 6 || index == 8 || index == 10 { append(UInt8(ascii: "-")) }
        append(Self.digit(byte >> 4))
        append(Self.digit(byte & 15))
      }
    }
  }

  private static func digit(_ value: UInt8) -> UInt8 {
    value + (value < 10 ? UInt8(ascii: "0") : UInt8(ascii: "a") - 10)
  }
}
