import Foundation

/// A host name or an IP address for which a server certificate is valid.
enum CertificateHost: Hashable {
  case name(String)
  case address(String)

  /// Creates a value from a text, which is an IP address or a host name.
  ///
  /// - Throws: ``CryptographyError/Code/invalidHostName`` for any other text. A host name has up to
  ///   253 bytes and consists of labels with dots between them. A label has 1 to 63 letters,
  ///   digits, `-` and `_`, which names of containers may have. The first of several labels may be
  ///   `*`.
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

  /// The host in OpenSSL's notation for the subject's alternative names, such as `DNS:localhost`.
  var alternativeName: String {
    switch self {
    case .name(let name): "DNS:\(name)"
    case .address(let address): "IP:\(address)"
    }
  }

  private static func isAllowed(_ byte: UInt8) -> Bool {
    switch byte {
    case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
      UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "_"):
      true
    default: false
    }
  }
}
