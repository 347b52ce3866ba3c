#if !canImport(ObjectiveC)
internal import CloudKitModel

/// Foundation's sort descriptor on Linux, which knows no keys.
public protocol SortDescriptorKeyConstructible {}

extension NSSortDescriptor: SortDescriptorKeyConstructible {}

extension SortDescriptorKeyConstructible where Self: NSSortDescriptor {
  /// The order of a field or of a property of records.
  public init(key: String?, ascending: Bool) {
    // Callers name NSSortDescriptor itself: its subclasses have initializers of their own.
    self = KeySortDescriptor(key: key, ascending: ascending) as! Self
  }
}

/// A sort descriptor that knows its key.
final class KeySortDescriptor: NSSortDescriptor {
  let fieldName: String?

  init(key: String?, ascending: Bool) {
    fieldName = key
    // Never used to compare: Foundation wants some key path.
    super.init(keyPath: \String.count, ascending: ascending)
  }

  override func copy(with zone: NSZone? = nil) -> Any { self }

  override func isEqual(_ object: Any?) -> Bool {
    guard let other = object as? KeySortDescriptor else { return false }
    return fieldName == other.fieldName && ascending == other.ascending
  }

  override var hash: Int { fieldName.hashValue }

  override var description: String {
    "(\(fieldName ?? "nil"), \(ascending ? "ascending" : "descending"))"
  }
}

extension NSSortDescriptor {
  /// The key that a server can sort by; nil when the descriptor was made without one.
  var searchableKey: String? { (self as? KeySortDescriptor)?.fieldName }
}
#endif
