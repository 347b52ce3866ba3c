#if !canImport(ObjectiveC)
internal import CloudKitModel

/// The protocol that adds an initializer with a key to `NSSortDescriptor` on Linux.
///
/// On Linux, Foundation's sort descriptors can be made from key paths and comparators only. An
/// initializer in a protocol extension can assign `self`. So it can return an object of a subclass
/// that stores the key.
public protocol SortDescriptorKeyConstructible {}

extension NSSortDescriptor: SortDescriptorKeyConstructible {}

extension SortDescriptorKeyConstructible where Self: NSSortDescriptor {
  /// Makes a sort descriptor for a field, or for a property of records such as `creationDate`.
  ///
  /// - Parameters:
  ///   - key: The name of the field or property. Queries refuse a descriptor whose key is nil.
  ///   - ascending: Whether the smallest value comes first.
  public init(key: String?, ascending: Bool) {
    // The cast succeeds: callers use NSSortDescriptor itself, because its subclasses have
    // initializers of their own.
    self = KeySortDescriptor(key: key, ascending: ascending) as! Self
  }
}

/// A sort descriptor on Linux that stores the name of a field. Only queries can use it; it cannot
/// compare objects.
final class KeySortDescriptor: NSSortDescriptor {
  let fieldName: String?

  init(key: String?, ascending: Bool) {
    fieldName = key
    // This key path is never used to compare. Foundation's initializer requires one.
    super.init(keyPath: \String.count, ascending: ascending)
  }

  /// Returns this object, because a descriptor is immutable.
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
  /// The name of the field or property that was passed as the key. Nil if the descriptor was made
  /// without a key, and for a ``CKLocationSortDescriptor``.
  var searchableKey: String? { (self as? KeySortDescriptor)?.fieldName }
}
#endif
