/// A list of header fields, in the order of sending.
///
/// All names and values are in one buffer of bytes, so even a list of many fields uses only two
/// blocks of memory. Names must be in lower case (RFC 9113 section 8.2.1). The type does not check
/// this, and a name may appear more than once.
///
/// ```swift
/// var headers: HTTP2Headers = ["apns-topic": "com.example.app"]
/// headers.append("apns-id", id, indexed: false)
/// headers["apns-topic"]  // "com.example.app"
/// ```
public struct HTTP2Headers: Sendable, Hashable {
  /// The place of one field in ``bytes``. The name of the field begins where the previous field
  /// ends.
  struct Field: Sendable, Hashable {
    /// The offset after the last byte of the name. The value begins there.
    var nameEnd: Int32
    var valueEnd: Int32
    /// Whether HPACK, the field compression of HTTP/2, may put the field into its table. A repeated
    /// field in the table costs one or two bytes.
    var isIndexed: Bool
  }

  /// The UTF-8 bytes of all names and values, one after the other.
  private(set) var bytes: [UInt8] = []
  private(set) var fields: [Field] = []

  /// Creates an empty list.
  public init() {}

  /// Creates a list from pairs of name and value.
  public init(_ fields: [(String, String)]) {
    for (name, value) in fields { append(name, value) }
  }

  /// Adds a field at the end.
  ///
  /// - Parameter indexed: whether the field compression (HPACK) may put the field into its table.
  ///   Use `false` for values that do not repeat.
  public mutating func append(_ name: String, _ value: String, indexed: Bool = true) {
    bytes.append(contentsOf: name.utf8)
    let nameEnd = Int32(bytes.count)
    bytes.append(contentsOf: value.utf8)
    fields.append(Field(nameEnd: nameEnd, valueEnd: Int32(bytes.count), isIndexed: indexed))
  }

  /// Adds a field at the end. `write` appends the value directly to the buffer of the list, so the
  /// value needs no string of its own.
  ///
  /// - Parameter write: appends the bytes of the value. It must not change the bytes before them.
  public mutating func append(
    _ name: StaticString, indexed: Bool = true, _ write: (inout [UInt8]) -> Void
  ) {
    bytes.append(
      contentsOf: UnsafeBufferPointer(start: name.utf8Start, count: name.utf8CodeUnitCount))
    let nameEnd = Int32(bytes.count)
    write(&bytes)
    fields.append(Field(nameEnd: nameEnd, valueEnd: Int32(bytes.count), isIndexed: indexed))
  }

  /// Adds the fields of `other` at the end.
  public mutating func append(contentsOf other: HTTP2Headers) {
    let start = Int32(bytes.count)
    bytes.append(contentsOf: other.bytes)
    for field in other.fields {
      fields.append(
        Field(
          nameEnd: start + field.nameEnd, valueEnd: start + field.valueEnd,
          isIndexed: field.isIndexed))
    }
  }

  mutating func append(_ name: UnsafeBufferPointer<UInt8>, _ value: UnsafeBufferPointer<UInt8>) {
    bytes.append(contentsOf: name)
    let nameEnd = Int32(bytes.count)
    bytes.append(contentsOf: value)
    fields.append(Field(nameEnd: nameEnd, valueEnd: Int32(bytes.count), isIndexed: true))
  }

  mutating func reserve(fields count: Int, bytes byteCount: Int) {
    fields.reserveCapacity(count)
    bytes.reserveCapacity(byteCount)
  }

  /// The value of the first field with this name; `nil` if there is none. The comparison is by
  /// bytes.
  ///
  /// - Complexity: O(*n*), where *n* is the number of fields. Names of another length are skipped
  ///   without a comparison of their bytes.
  public subscript(name: String) -> String? {
    var name = name
    return name.withUTF8 { wanted in
      bytes.withUnsafeBufferPointer { bytes in
        var start = 0
        for field in fields {
          let (nameEnd, valueEnd) = (Int(field.nameEnd), Int(field.valueEnd))
          if nameEnd - start == wanted.count,
            UnsafeBufferPointer(rebasing: bytes[start..<nameEnd]).elementsEqual(wanted)
          {
            return String(
              decoding: UnsafeBufferPointer(rebasing: bytes[nameEnd..<valueEnd]), as: UTF8.self)
          }
          start = valueEnd
        }
        return nil
      }
    }
  }

  private func nameBytes(_ index: Int) -> ArraySlice<UInt8> {
    let start = index == 0 ? 0 : Int(fields[index - 1].valueEnd)
    return bytes[start..<Int(fields[index].nameEnd)]
  }

  private func valueBytes(_ index: Int) -> ArraySlice<UInt8> {
    bytes[Int(fields[index].nameEnd)..<Int(fields[index].valueEnd)]
  }
}

extension HTTP2Headers: RandomAccessCollection {
  public var startIndex: Int { 0 }
  public var endIndex: Int { fields.count }

  /// The name and the value of the field at a position. Invalid UTF-8 is replaced by U+FFFD.
  public subscript(position: Int) -> (name: String, value: String) {
    (
      String(decoding: nameBytes(position), as: UTF8.self),
      String(decoding: valueBytes(position), as: UTF8.self)
    )
  }
}

extension HTTP2Headers: ExpressibleByDictionaryLiteral, CustomStringConvertible {
  public init(dictionaryLiteral elements: (String, String)...) {
    self.init(elements)
  }

  public var description: String {
    map { "\($0.name): \($0.value)" }.joined(separator: "\n")
  }
}
