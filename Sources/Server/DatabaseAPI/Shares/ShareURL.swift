import CloudKitModel
import Cryptography
import Foundation

/// The URL of a share: `{publicURL}/share/{shortGUID}#{title}`.
///
/// The last part of the path identifies the share. The title after the number sign is for people
/// who read the URL; the server never receives it.
struct ShareURL {
  static let folder = "/share"
  static let path = folder + "/"

  /// The URL at which clients reach the server, without a slash at the end.
  let publicURL: String

  /// Returns the URL of a share.
  func text(shortGUID: String, title: String?) -> String {
    // A browser may bring any text in place of an identifier.
    let part = shortGUID.addingPercentEncoding(withAllowedCharacters: .unreserved) ?? ""
    let url = publicURL + Self.path + part
    let fragment = title?.addingPercentEncoding(withAllowedCharacters: .alphanumerics) ?? ""
    return fragment.isEmpty ? url : "\(url)#\(fragment)"
  }

  /// Returns a text for the log that identifies a share, and does not open it: the first 16 digits of
  /// the SHA-256 hash of the short GUID.
  static func hash(of shortGUID: String) -> String {
    String(SHA256.hash(shortGUID.utf8).hexadecimal.prefix(16))
  }

  /// Adds the URLs to the content of a share. Other records stay as they are.
  func added(to record: Record) -> Record {
    guard var content = record.shareContent else { return record }
    var title: String?
    if case .string(let text) = record.fields["cloudkit.title"] { title = text }
    content.url = content.shortGUID.map { text(shortGUID: $0, title: title) }
    content.oneTimeLinks = content.oneTimeLinks?.map { link in
      var link = link
      link.url = link.url.map { text(shortGUID: $0, title: title) }
      return link
    }
    var record = record
    record.shareContent = content
    return record
  }
}
