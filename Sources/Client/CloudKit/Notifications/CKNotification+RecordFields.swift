internal import CloudKitModel

extension CKNotification {
  /// Returns the values of the desired keys in a push payload, by the names of the fields.
  ///
  /// Locations and references are objects in the payload. They become `CLLocation` and `CKRecord.Reference`, as in a
  /// record. Dates stay numbers, as on Apple's systems.
  static func recordFields(
    _ fields: PayloadObject, of kind: PayloadObject, ck: PayloadObject
  ) -> [String: Any] {
    var values: [String: Any] = [:]
    for key in fields.keys {
      if let object = fields.object(key) {
        values[key] = location(object) ?? reference(object, of: kind, ck: ck)
      } else {
        values[key] = fields[key].map { plainValue($0) }
      }
    }
    return values
  }

  private static func plainValue(_ value: Any) -> Any {
    switch value {
    case let text as String: text
    case let number as NSNumber: number
    case let list as [Any]: list.map { plainValue($0) }
    default: value
    }
  }

  private static func location(_ object: PayloadObject) -> CLLocation? {
    guard let latitude = object.number("latitude"), let longitude = object.number("longitude")
    else { return nil }
    return CLLocation(
      Location(latitude: latitude.doubleValue, longitude: longitude.doubleValue))
  }

  private static func reference(
    _ object: PayloadObject, of kind: PayloadObject, ck: PayloadObject
  ) -> CKRecord.Reference? {
    let zoneName = object.string("zoneName") ?? CKRecordZone.ID.defaultZoneName
    let ownerName =
      object.string("ownerName").map { Self.ownerName($0, of: kind, ck: ck) }
      ?? CKCurrentUserDefaultName
    // The initializers of IDs stop the program for empty names. A payload can have any content, so the names are
    // checked first.
    guard let name = object.string("recordName"), !name.isEmpty, !zoneName.isEmpty,
      !ownerName.isEmpty
    else { return nil }
    let zoneID = CKRecordZone.ID(zoneName: zoneName, ownerName: ownerName)
    return CKRecord.Reference(
      recordID: CKRecord.ID(recordName: name, zoneID: zoneID), action: .none)
  }
}
