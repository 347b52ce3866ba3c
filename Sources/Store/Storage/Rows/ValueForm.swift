import CloudKitModel

/// The form of a stored value: all that a decoder must know to read or skip the value's content.
///
/// The form is one byte, which the content follows.
struct ValueForm {
  /// The type of the value.
  let type: FieldType
  /// Whether the seconds beyond the millisecond follow each date, as a double. Only dates of
  /// encrypted fields have them.
  let isPrecise: Bool
  /// Whether the client encrypted the value.
  let isEncrypted: Bool

  /// The bit of a list.
  private static let listMark: UInt8 = 0x80
  /// The bit of an encrypted value.
  private static let encryptionMark: UInt8 = 0x40
  /// The code of precise dates, which stands in place of the code of their type.
  private static let preciseCode: UInt8 = 0x20

  /// Creates the form of a value.
  init(of value: RecordValue, isEncrypted: Bool) {
    type = value.type
    isPrecise = value.isPrecise
    self.isEncrypted = isEncrypted
  }

  /// Decodes a form.
  ///
  /// - Throws: ``StoreError/Code/corrupt`` for an unknown type.
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

  /// The encoded form.
  var code: UInt8 {
    (isPrecise ? Self.preciseCode : type.element.rowCode) | (type.isList ? Self.listMark : 0)
      | (isEncrypted ? Self.encryptionMark : 0)
  }
}

// The stored codes are written out here, so that they stay the same when the order of the cases
// changes. They are below the bits and the code above.
extension ValueType {
  /// The stored code of the type.
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

  /// Finds the type of a stored code; nil for an unknown one.
  fileprivate init?(rowCode: UInt8) {
    guard let type = Self.allCases.first(where: { $0.rowCode == rowCode }) else { return nil }
    self = type
  }
}
