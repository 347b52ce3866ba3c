import CloudKitModel

/// The form of a stored value: the byte before the content by which a decoder can read or skip it.
struct ValueForm {
  let type: FieldType
  /// The seconds beyond the millisecond follow each date, as a double. Only dates of encrypted
  /// fields have them.
  let isPrecise: Bool
  let isEncrypted: Bool

  private static let listMark: UInt8 = 0x80
  private static let encryptionMark: UInt8 = 0x40
  private static let preciseCode: UInt8 = 0x20

  init(of value: RecordValue, isEncrypted: Bool) {
    type = value.type
    isPrecise = value.isPrecise
    self.isEncrypted = isEncrypted
  }

  init(from decoder: inout RowDecoder) throws {
    let code = try decoder.decodeByte()
    let element = code & ~(Self.listMark | Self.encryptionMark)
    isPrecise = element == Self.preciseCode
    isEncrypted = code & Self.encryptionMark != 0
    guard let element = isPrecise ? .timestamp : ValueType(rowCode: element) else {
      throw decoder.damaged("has a value of the unknown type \(code)")
    }
    type = FieldType(element, isList: code & Self.listMark != 0)
  }

  var code: UInt8 {
    (isPrecise ? Self.preciseCode : type.element.rowCode) | (type.isList ? Self.listMark : 0)
      | (isEncrypted ? Self.encryptionMark : 0)
  }
}

// The stored codes are written out here, so that they stay the same when the order of the cases
// changes. They are below the bits and the code above.
extension ValueType {
  fileprivate var rowCode: UInt8 {
    switch self {
    case .string: 1
    case .int64: 2
    case .double: 3
    case .timestamp: 4
    case .bytes: 5
    case .location: 6
    case .reference: 7
    case .asset: 8
    }
  }

  fileprivate init?(rowCode: UInt8) {
    guard let type = Self.allCases.first(where: { $0.rowCode == rowCode }) else { return nil }
    self = type
  }
}
