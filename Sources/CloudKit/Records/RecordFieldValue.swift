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
    NSDictionary(dictionary: fields.mapValues { object($0) })
  }

  /// The fields of an archive; nil when it holds something else.
  static func fields(of archive: NSDictionary) -> [String: any CKRecordValueProtocol]? {
    guard let values = archive as? [String: Any] else { return nil }
    let fields = values.compactMapValues { value in
      (object(value) as? any CKRecordValueProtocol).map { canonical($0) }
    }
    return fields.count == values.count ? fields : nil
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
