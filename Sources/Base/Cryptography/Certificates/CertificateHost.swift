import Foundation

/// A host name or an IP address that a server certificate is for.
enum CertificateHost: Hashable {
  case name(String)
  case address(String)

  /// Distinguishes names from IP addresses.
  ///
  /// - Throws: ``CryptographyError/Code/invalidHostName`` for other texts. A name has labels of
  ///   letters, digits, `-` and `_` (container names have it), each up to 63 bytes. The first of
  ///   several labels may be `*`.
  init(parsing text: String) throws(CryptographyError) {
    var buffer = in6_addr()
    if inet_pton(AF_INET, text, &buffer) == 1 || inet_pton(AF_INET6, text, &buffer) == 1 {
      self = .address(text)
      return
    }
    let labels = text.split(separator: ".", omittingEmptySubsequences: false)
    let isName = labels.enumerated().allSatisfy { index, label in
      if index == 0, label == "*", labels.count > 1 { return true }
      return (1...63).contains(label.utf8.count) && label.utf8.allSatisfy(Self.isAllowed)
    }
    guard isName, text.utf8.count <= 253 else {
      throw CryptographyError(
        .invalidHostName, "'\(text)' is neither a host name nor an IP address")
    }
    self = .name(text)
  }

  /// The entry in OpenSSL's notation for the subject's alternative names.
  var alternativeName: String {
    switch self {
    case .name(let name): "DNS:\(name)"
    case .address(let address): "IP:\(address)"
    }
  }

  /// Whether a label may have the byte.
  private static func isAllowed(_ byte: UInt8) -> Bool {
    switch byte {
    case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
      UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "_"):
      true
    default: false
    }
  }
}
