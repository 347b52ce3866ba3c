import CloudKit
import CloudKitModel

/// A value of the page's examples.
struct SampleValue {
  /// How a format says it: a literal, or `%@`.
  var format: String
  /// The argument for `%@`, with the name that the page gives it.
  var argument: (name: String, value: Any)?
  /// The value as an app saves it.
  var native: any CKRecordValueProtocol
  /// The same in the model, for Web Services.
  var model: RecordValue

  static func literal(
    _ format: String, _ native: some CKRecordValueProtocol, _ model: RecordValue
  ) -> SampleValue {
    SampleValue(format: format, argument: nil, native: native, model: model)
  }

  static func argument(
    _ name: String, _ native: some CKRecordValueProtocol, _ model: RecordValue
  ) -> SampleValue {
    SampleValue(format: "%@", argument: (name, native), native: native, model: model)
  }
}

/// A field of the record that the page's examples look for, and values to compare it with.
struct SampleField {
  var name: String
  var type: FieldType
  /// Less than the record's, the record's own, and greater, where the type has an order.
  var low: SampleValue
  var own: SampleValue
  var high: SampleValue

  /// The field's values: of a list its elements, which are ``own`` and ``high``.
  var saved: any CKRecordValueProtocol {
    guard type.isList else { return own.native }
    return switch type.element {
    case .string: ["Suva", "Tonga"]
    case .int64: [7, 9]
    case .double: [6.5, 7.5]
    case .timestamp: [own, high].compactMap { $0.native as? Date }
    case .location: [own, high].compactMap { $0.native as? CLLocation }
    case .reference: [own, high].compactMap { $0.native as? CKRecord.Reference }
    case .bytes: [own, high].compactMap { $0.native as? Data }
    case .asset: [own, high].compactMap { $0.native as? CKAsset }
    }
  }

  /// A field of each type and one of each list of it.
  ///
  /// - Parameter files: three files for assets.
  static func all(_ files: [URL]) -> [SampleField] {
    let names = [
      ("string", "strings"), ("int64", "int64s"), ("double", "doubles"), ("date", "dates"),
      ("bytes", "byteLists"), ("location", "locations"), ("reference", "references"),
      ("asset", "assets"),
    ]
    return zip(names, ValueType.allCases).flatMap { names, type -> [SampleField] in
      let values = values(of: type, files)
      return [(names.0, false), (names.1, true)].map { name, isList in
        SampleField(
          name: name, type: FieldType(type, isList: isList), low: values[0], own: values[1],
          high: values[2])
      }
    }
  }

  private static func values(of type: ValueType, _ files: [URL]) -> [SampleValue] {
    switch type {
    case .string:
      ["Apia", "Suva", "Tonga"].map { .literal("'\($0)'", $0, .string($0)) }
    case .int64: [5, 7, 9].map { .literal("\($0)", $0, .int64(Int64($0))) }
    case .double: [5.5, 6.5, 7.5].map { .literal("\($0)", $0, .double($0)) }
    case .timestamp:
      zip(["earlier", "noon", "later"], [0, 43_200, 86_400]).map { name, seconds in
        let date = Date(timeIntervalSince1970: 978_307_200 + seconds)
        return .argument(name, date, .timestamp(Timestamp(date)))
      }
    case .bytes:
      zip(["lowData", "data", "highData"], UInt8(1)...).map { name, byte in
        .argument(name, Data([byte]), .bytes(Data([byte])))
      }
    case .location:
      zip(["apia", "suva", "tonga"], [(-13.83, -171.77), (-18.14, 178.44), (-21.14, -175.2)])
        .map { name, place in
          .argument(
            name, CLLocation(latitude: place.0, longitude: place.1),
            .location(Location(latitude: place.0, longitude: place.1)))
        }
    case .reference:
      ["apia", "suva", "tonga"].map { name in
        let id = CKRecord.ID(recordName: name)
        return .argument(
          "\(name)Reference", CKRecord.Reference(recordID: id, action: .none),
          .reference(CloudKitModel.Reference(recordName: name, zoneID: .default)))
      }
    case .asset:
      zip(["lowAsset", "asset", "highAsset"], files).map { name, file in
        .argument(
          name, CKAsset(fileURL: file), .asset(Asset(fileChecksum: "checksum", size: 1)))
      }
    }
  }
}
