/// The rules for names that users give to zones, records, types and fields.
public enum Identifier {
  /// Throws unless `name` has 1 to 255 printable ASCII characters and does not begin with `_`.
  public static func validate(_ name: String, as role: String) throws(ModelError) {
    guard !name.isEmpty else {
      throw ModelError(.invalidName, field: role, "\(role) must not be empty")
    }
    guard name.utf8.count <= ServiceLimits.nameLength else {
      throw ModelError(
        .invalidName, field: role,
        "\(role) has \(name.utf8.count) characters; the limit is \(ServiceLimits.nameLength)")
    }
    guard name.utf8.allSatisfy({ (0x20...0x7E).contains($0) }) else {
      throw ModelError(.invalidName, field: role, "\(role) '\(name)' is not plain ASCII")
    }
    guard name.utf8.first != UInt8(ascii: "_") else {
      throw ModelError(
        .invalidName, field: role,
        "\(role) '\(name)' begins with '_', which is kept for system names")
    }
  }

  /// Throws unless `name` begins with a letter and goes on with letters, digits and `_`.
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

  /// Throws unless `name` can name a record type: as a field name, or the system types `Users`
  /// and `cloudkit.share`.
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

  /// Whether `name` is a letter, followed by letters, digits and `_`, of any length.
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
