/// An encoding of rows that is the same for every engine, for digests and for stored keys.
///
/// Each value begins with a byte for its kind: 0 for null, otherwise the raw value of
/// ``SQLTable/Kind``. For an integer, eight bytes in little-endian order follow. For a text or
/// bytes, the length in bytes follows in the same form, then the content. The encoding is stored,
/// so it must not change.
package enum CanonicalRow {
  private static let null: UInt8 = 0

  package static func append(
    _ row: any SQLRow, _ columns: some Collection<SQLTable.Column>, to bytes: inout [UInt8]
  ) {
    for (index, column) in columns.enumerated() {
      let index = Int32(index)
      guard !row.isNull(index) else {
        bytes.append(null)
        continue
      }
      bytes.append(column.kind.rawValue)
      switch column.kind {
      case .integer:
        append(row.integer(index), to: &bytes)
      case .text, .bytes:
        let buffer = row.buffer(index)
        append(Int64(buffer.count), to: &bytes)
        bytes.append(contentsOf: buffer)
      }
    }
  }

  package static func bytes(of values: [SQLValue]) -> [UInt8] {
    var bytes: [UInt8] = []
    for value in values {
      switch value {
      case .null: bytes.append(null)
      case .integer(let integer):
        bytes.append(SQLTable.Kind.integer.rawValue)
        append(integer, to: &bytes)
      case .text(let text):
        bytes.append(SQLTable.Kind.text.rawValue)
        append(Int64(text.utf8.count), to: &bytes)
        bytes += text.utf8
      case .bytes(let content):
        bytes.append(SQLTable.Kind.bytes.rawValue)
        append(Int64(content.count), to: &bytes)
        bytes += content
      }
    }
    return bytes
  }

  /// Returns nil if the bytes do not encode values.
  package static func values(of bytes: [UInt8]) -> [SQLValue]? {
    var rest = bytes[...]
    var values: [SQLValue] = []
    while let tag = rest.popFirst() {
      if tag == null {
        values.append(.null)
        continue
      }
      guard let kind = SQLTable.Kind(rawValue: tag), rest.count >= 8 else { return nil }
      let number = rest.prefix(8).reversed().reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
      rest = rest.dropFirst(8)
      if kind == .integer {
        values.append(.integer(Int64(bitPattern: number)))
        continue
      }
      guard number <= rest.count else { return nil }
      let content = rest.prefix(Int(number))
      rest = rest.dropFirst(Int(number))
      values.append(
        kind == .text ? .text(String(decoding: content, as: UTF8.self)) : .bytes(Array(content)))
    }
    return values
  }

  private static func append(_ integer: Int64, to bytes: inout [UInt8]) {
    withUnsafeBytes(of: integer.littleEndian) { bytes.append(contentsOf: $0) }
  }
}
