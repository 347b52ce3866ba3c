package import CloudKitModel

extension RecordValue {
  /// Converts a value of a record or a predicate to the form in which the server stores it.
  ///
  /// Booleans and integers become `INT64`, and floating-point numbers become `DOUBLE`. A list with
  /// `INT64` and `DOUBLE` values becomes a list of `DOUBLE`. An empty list becomes a list of texts.
  ///
  /// - Parameters:
  ///   - isEncrypted: Whether the value is of an encrypted field, whose dates stay exact. Other dates
  ///     become whole milliseconds.
  ///   - asset: Returns the server's description of an asset's file; nil if the server does not have
  ///     the file.
  /// - Throws: `invalidArguments` for integers above `Int64.max`, for mixed or nested lists, and
  ///   for values of types that a field cannot have. The same for dates that are out of range. `assetNotAvailable` for an asset that was not
  ///   uploaded. The error names the field.
  package init(
    _ value: Any, field: String, isEncrypted: Bool = false,
    asset: (CKAsset) -> Asset? = { $0.storedAsset }
  ) throws(CKError) {
    switch value {
    case let number as NSNumber: self = try Self.number(number, field: field)
    case let string as String: self = .string(string)
    case let date as Date:
      let timestamp = try Self.timestamp(date, field: field)
      self = isEncrypted ? RecordValue(preciselyEncoding: date) : .timestamp(timestamp)
    case let data as Data: self = .bytes(data)
    case let location as CLLocation:
      // The model has the time as whole milliseconds, which every date has.
      _ = try Self.timestamp(location.timestamp, field: field)
      self = .location(location.model)
    case let reference as CKReference: self = .reference(reference.model)
    case let file as CKAsset: self = .asset(try Self.stored(asset(file), field: field))
    case let list as [Any]: self = try Self.list(list, field: field, isEncrypted, asset: asset)
    default:
      throw CKError(
        .invalidArguments,
        "the field '\(field)' cannot hold a value of type \(Swift.type(of: value))")
    }
  }

  /// Converts a number. The type of the number object decides between `INT64` and `DOUBLE`.
  private static func number(_ number: NSNumber, field: String) throws(CKError) -> RecordValue {
    switch UInt8(bitPattern: number.objCType.pointee) {
    case UInt8(ascii: "d"), UInt8(ascii: "f"):
      return .double(number.doubleValue)
    case UInt8(ascii: "Q") where number.uint64Value > UInt64(Int64.max):
      throw CKError(
        .invalidArguments,
        "the number \(number.uint64Value) in the field '\(field)' is larger than \(Int64.max)")
    default:
      return .int64(number.int64Value)
    }
  }

  /// Converts a date; throws `invalidArguments` if it is not finite or out of range.
  private static func timestamp(_ date: Date, field: String) throws(CKError) -> Timestamp {
    guard let timestamp = Timestamp(storing: date) else {
      throw CKError(
        .invalidArguments,
        "the date in the field '\(field)', \(date.timeIntervalSince1970) seconds after 1970, is not "
          + "finite or out of range")
    }
    return timestamp
  }

  private static func stored(_ asset: Asset?, field: String) throws(CKError) -> Asset {
    guard let asset else {
      throw CKError(.assetNotAvailable, "the asset in the field '\(field)' was not uploaded")
    }
    return asset
  }

  /// Converts a list; throws `invalidArguments` for nested and mixed lists.
  private static func list(
    _ list: [Any], field: String, _ isEncrypted: Bool, asset: (CKAsset) -> Asset?
  ) throws(CKError) -> RecordValue {
    var values: [RecordValue] = []
    for element in list {
      let value = try RecordValue(
        element, field: field, isEncrypted: isEncrypted, asset: asset)
      guard !value.type.isList else {
        throw CKError(
          .invalidArguments,
          "the list in the field '\(field)' contains another list, which CloudKit does not support")
      }
      values.append(value)
    }
    do throws(ModelError) {
      return try RecordValue(listOf: values, field: field)
    } catch {
      throw CKError(.invalidArguments, error.reason)
    }
  }

  /// Returns the value as a program reads it from a record.
  ///
  /// - Parameters:
  ///   - zoneID: The zone of the record, for references that name no zone.
  ///   - asset: Returns the asset object for a file that the server stores. If it returns nil, the
  ///     value is an asset object whose file is not downloaded.
  package func object(
    in zoneID: CKRecordZone.ID, asset: (Asset) -> CKAsset? = { _ in nil }
  ) -> any CKRecordValueProtocol {
    switch self {
    case .string(let string): string
    case .int64(let integer): NSNumber(value: integer)
    case .double(let double): NSNumber(value: double)
    case .timestamp(let timestamp): timestamp.date
    case .preciseTimestamp(let precise): precise.date
    case .bytes(let data): data
    case .location(let location): CLLocation(location)
    case .reference(let reference): CKReference(reference, in: zoneID)
    case .asset(let stored): asset(stored) ?? CKAsset(fileURL: nil, stored: stored)
    case .list(_, let values):
      RecordFieldValue.canonical(
        NSArray(array: values.map { $0.object(in: zoneID, asset: asset) }))
    }
  }
}
