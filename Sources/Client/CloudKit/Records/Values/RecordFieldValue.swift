/// The one form in which a record keeps a field's value, whatever form it was set in.
///
/// Numbers and booleans become `NSNumber`, so that a read as any number type succeeds; arrays
/// become `NSArray` of such values; strings, dates and data become Swift's own types.
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

  /// The classes that a record's archive may hold.
  static let archivedClasses: [AnyClass] = [
    NSDictionary.self, NSArray.self, NSString.self, NSNumber.self, NSDate.self, NSData.self,
    CLLocation.self, CKReference.self, CKAsset.self,
  ]

  /// The fields as objects that an archiver takes.
  static func archive(_ fields: [String: any CKRecordValueProtocol]) -> NSDictionary {
    let entries = fields.map { (ArchivedText.escaped($0.key), archivable($0.value)) }
    return NSDictionary(dictionary: Dictionary(uniqueKeysWithValues: entries))
  }

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

  /// The fields of an archive; nil when it holds something else.
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
