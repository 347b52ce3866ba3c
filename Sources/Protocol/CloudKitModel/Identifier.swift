import Foundation

/// The rules for the names that users give to zones, records, record types and fields.
public enum Identifier {
  /// Checks the name of a record or a zone: 1 to 255 characters of Unicode (scalars), without
  /// control characters, not beginning with `_`.
  ///
  /// - Parameter role: The member or property that holds the name, such as `zoneName`. The error
  ///   names it.
  /// - Throws: ``ModelError`` with ``ModelError/Code/invalidName``.
  public static func validate(_ name: String, as role: String) throws(ModelError) {
    guard !name.isEmpty else {
      throw ModelError(.invalidName, field: role, "\(role) must not be empty")
    }
    let length = name.unicodeScalars.count
    guard length <= ServiceLimits.nameLength else {
      throw ModelError(
        .invalidName, field: role,
        "\(role) has \(length) characters; the limit is \(ServiceLimits.nameLength)")
    }
    if let control = name.unicodeScalars.first(where: \.isControl) {
      throw ModelError(
        .invalidName, field: role,
        "\(role) '\(name)' has the control character U+"
          + "\(String(format: "%04X", control.value)), which names must not have")
    }
    guard name.utf8.first != UInt8(ascii: "_") else {
      throw ModelError(
        .invalidName, field: role,
        "\(role) '\(name)' begins with '_', which is reserved for system names")
    }
  }

  /// Checks the name of a field: an ASCII letter, then ASCII letters, digits and `_`, at most 255
  /// characters.
  ///
  /// - Throws: ``ModelError`` with ``ModelError/Code/invalidName``.
  public static func validateFieldName(_ name: String) throws(ModelError) {
    guard isPlainName(name) else {
      throw ModelError(
        .invalidName, field: name,
        "field name '\(name)' must begin with a letter and hold only letters, digits and '_'")
    }
    guard name.utf8.count <= ServiceLimits.nameLength else {
      throw ModelError(
        .invalidName, field: name,
        "field name is longer than \(ServiceLimits.nameLength) characters")
    }
  }

  /// Checks the name of a field in records of a type. In shares, a name may begin with `cloudkit.`,
  /// as those of the system do (`CKShare.SystemFieldKey`).
  ///
  /// - Throws: ``ModelError`` with ``ModelError/Code/invalidName``.
  public static func validateFieldName(
    _ name: String, ofRecordType recordType: String
  ) throws(ModelError) {
    let prefix = "cloudkit."
    let isSystems = recordType == ShareContent.recordType && name.hasPrefix(prefix)
    try validateFieldName(isSystems ? String(name.dropFirst(prefix.count)) : name)
  }

  /// Checks the name of a record type. The rules are those of a field's name. The system's type for
  /// shares, `cloudkit.share`, is allowed too.
  ///
  /// - Throws: ``ModelError`` with ``ModelError/Code/invalidName``.
  public static func validateRecordType(_ name: String) throws(ModelError) {
    guard isPlainName(name) || name == "cloudkit.share" else {
      throw ModelError(
        .invalidName, field: "recordType",
        "record type '\(name)' must begin with a letter and hold only letters, digits and '_'")
    }
    guard name.utf8.count <= ServiceLimits.nameLength else {
      throw ModelError(
        .invalidName, field: "recordType",
        "recordType is longer than \(ServiceLimits.nameLength) characters")
    }
  }

  /// Returns whether `name` is an ASCII letter, followed by ASCII letters, digits and `_`. The
  /// length does not matter.
  public static func isPlainName(_ name: String) -> Bool {
    var bytes = name.utf8.makeIterator()
    guard let first = bytes.next(), isLetter(first) else { return false }
    while let byte = bytes.next() {
      guard isLetter(byte) || isDigit(byte) || byte == UInt8(ascii: "_") else { return false }
    }
    return true
  }

  private static func isLetter(_ byte: UInt8) -> Bool {
    (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte)
      || (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains(byte)
  }

  private static func isDigit(_ byte: UInt8) -> Bool {
    (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte)
  }
}

extension Unicode.Scalar {
  /// Whether the scalar has the general category `Cc`. Unicode's stability policy keeps that
  /// category as it is, so no look into the tables of Unicode is necessary.
  public var isControl: Bool { value < 0x20 || (0x7F...0x9F).contains(value) }
}
