#if !canImport(ObjectiveC)
internal import CloudKitModel

/// The protocol that adds an initializer with a key to `NSSortDescriptor` on Linux.
///
/// Foundation on Linux makes sort descriptors from key paths and comparators only. An initializer
/// of a protocol can assign `self`, so it can return a subclass that keeps the key.
public protocol SortDescriptorKeyConstructible {}

extension NSSortDescriptor: SortDescriptorKeyConstructible {}

extension SortDescriptorKeyConstructible where Self: NSSortDescriptor {
  /// Makes a sort descriptor for a field, or for a property of records such as `creationDate`.
  ///
  /// - Parameters:
  ///   - key: The name of the field or property. With nil, no query accepts the descriptor.
  ///   - ascending: Whether the smallest value comes first.
  public init(key: String?, ascending: Bool) {
    // Callers name NSSortDescriptor itself: its subclasses have initializers of their own.
    self = KeySortDescriptor(key: key, ascending: ascending) as! Self
  }
}

/// A sort descriptor that keeps the name of a field. It works in queries only.
final class KeySortDescriptor: NSSortDescriptor {
  /// The name of the field or property; nil if the program passed none.
  let fieldName: String?

  init(key: String?, ascending: Bool) {
    fieldName = key
    // This key path is never used to compare. Foundation's initializer requires one.
    super.init(keyPath: \String.count, ascending: ascending)
  }

  /// Returns the descriptor itself, which cannot change.
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
  /// The name of the field that a server can sort by. Nil if the descriptor was made from a key
  /// path or comparator.
  var searchableKey: String? { (self as? KeySortDescriptor)?.fieldName }
}
#endif
