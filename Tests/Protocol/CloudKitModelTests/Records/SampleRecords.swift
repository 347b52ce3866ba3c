import CloudKitModel

extension Record {
  /// A record of the type `Note` with these fields and nothing else.
  static func sample(_ fields: RecordFields<RecordValue> = [:]) -> Record {
    Record(recordID: RecordID(recordName: "n-1"), recordType: "Note", fields: fields)
  }
}

extension RecordValue {
  static func strings(_ strings: String...) -> RecordValue {
    .list(of: .string, strings.map { .string($0) })
  }

  static func integers(_ integers: Int64...) -> RecordValue {
    .list(of: .int64, integers.map { .int64($0) })
  }

  static func place(_ latitude: Double, _ longitude: Double) -> RecordValue {
    .location(Location(latitude: latitude, longitude: longitude))
  }

  static func moment(_ milliseconds: Int64) -> RecordValue {
    .timestamp(Timestamp(milliseconds: milliseconds))
  }

  static func target(_ recordName: String, zone: String? = nil) -> RecordValue {
    .reference(
      Reference(recordName: recordName, zoneID: zone.map { ZoneID(zoneName: $0) }))
  }
}
