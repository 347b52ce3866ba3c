/// The damage of one page of a store: the page is missing, or its bytes differ from those that were
/// written.
public struct PageDamage: Sendable, Hashable, CustomStringConvertible {
  /// The kind of the damage.
  public enum Kind: Sendable, Hashable {
    /// The page does not match its checksum.
    case changed
    /// The file ends before the page.
    case missing
  }

  /// The path of the store's file, also for a page of its log.
  public var path: String
  /// The page's number, counted from 1.
  public var page: UInt32
  /// Whether the damaged page is in the write-ahead log.
  public var isInLog: Bool
  /// The kind of the damage.
  public var kind: Kind

  public var description: String {
    let file = "'\(path)\(isInLog ? "-wal" : "")'"
    return switch kind {
    case .changed: "page \(page) in \(file) does not match its checksum"
    case .missing: "\(file) ends before page \(page)"
    }
  }

  /// Advice to the administrator.
  package static let advice =
    "Petrel does not serve a damaged store; stop the server, keep all of the store's files, and "
    + "restore a backup to another place with 'petrel restore'. 'petrel doctor --deep' lists the "
    + "damage"
}
