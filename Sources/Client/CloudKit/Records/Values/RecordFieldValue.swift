/// The functions that convert field values to the canonical form, the one form in which a record
/// keeps them.
///
/// Numbers and Booleans become `NSNumber`, so that a program can read them as any number type.
/// Arrays become `NSArray` with elements of Foundation's types. Texts, dates and data become
/// Swift's own types.
enum RecordFieldValue {
  static func canonical(_ value: any CKRecordValueProtocol) -> any CKRecordValueProtocol {
    switch value {
    case let number as NSNumber: number
    case let string as String: string
    case let date as Date: date
    case let data as Data: data
    case let list as [Any]: NSArray(array: list.map { object($0) })
    default: value
    }
  }

  /// The classes that a record's archive can contain.
  static let archivedClasses: [AnyClass] = [
    NSDictionary.self, NSArray.self, NSString.self, NSNumber.self, NSDate.self, NSData.self,
    CLLocation.self, CKReference.self, CKAsset.self,
  ]

  static func archive(_ fields: [String: any CKRecordValueProtocol]) -> NSDictionary {
    let entries = fields.map { (ArchivedText.escaped($0.key), archivable($0.value)) }
    return NSDictionary(dictionary: Dictionary(uniqueKeysWithValues: entries))
  }

  /// Returns a value as an object that an archiver accepts, with its texts escaped by
  /// ``ArchivedText``.
  private static func archivable(_ value: Any) -> Any {
    switch value {
    case let list as NSArray: NSArray(array: list.map { archivable($0) })
    case let text as String: ArchivedText.escaped(text) as NSString
    default: object(value)
    }
  }

  private static func unarchived(_ value: Any) -> Any {
    switch value {
    case let list as NSArray: NSArray(array: list.map { unarchived($0) })
    case let text as String: ArchivedText.original(text) as NSString
    default: object(value)
    }
  }

  /// Returns the fields of an archive; nil if the archive contains a value that a field cannot
  /// have.
  static func fields(of archive: NSDictionary) -> [String: any CKRecordValueProtocol]? {
    guard let values = archive as? [String: Any] else { return nil }
    var fields: [String: any CKRecordValueProtocol] = [:]
    for (key, value) in values {
      guard let value = unarchived(value) as? any CKRecordValueProtocol else { return nil }
      fields[ArchivedText.original(key)] = canonical(value)
    }
    return fields
  }

  private static func object(_ value: Any) -> Any {
    switch value {
    case let number as NSNumber: number
    case let string as String: string as NSString
    case let date as Date: date as NSDate
    case let data as Data: data as NSData
    case let list as [Any]: NSArray(array: list.map { object($0) })
    default: value
    }
  }
}
