extension RowDecoder: RowCoder {
  /// A row inside a field of another row ends with that field, without this key.
  static var endKey: UInt8 { 0 }

  /// The state of reading one row. A row inside a field of another row has a second state.
  struct Fields {
    /// The next field; ``end`` after the last.
    var tag: UInt64 = 0
    var wire = RowWire.number
    /// The row is the content of a field of another row.
    var isNested = false
    var tags = RowTags.all
    /// How many cases of the current enum ``RowCodable/code(_:)`` has asked for, and how many of
    /// them the row has.
    var choices = (asked: 0, found: 0)
    var row: StaticString?
    var field: StaticString?

    /// A tag above all others.
    static let end = UInt64.max
  }

  /// Skips unknown fields. An optional field that is missing, or not in `tags`, keeps its value.
  mutating func decodeFields<Value: RowCodable>(
    into value: inout Value, only tags: RowTags = .all, isNested: Bool
  ) throws {
    let outer = fields
    fields = Fields(isNested: isNested, tags: tags, row: Value.rowName)
    try advance()
    try value.code(&self)
    while fields.tag != Fields.end { try skipField() }
    fields = outer
  }

  mutating func required<Part: RowPart>(
    _ tag: UInt8, _ name: StaticString, _ part: inout Part
  ) throws {
    guard fields.tags.contains(tag) else { return }
    part = .blank
    guard try decode(tag, name, &part) else { throw missing(name) }
  }

  mutating func field<Part: RowPart>(
    _ tag: UInt8, _ name: StaticString, _ part: inout Part?
  ) throws {
    guard fields.tags.contains(tag), try seek(tag) else { return }
    part = .blank
    // `part` was just set, so it is not nil.
    _ = try decode(tag, name, &part!)
  }

  mutating func field<Part: RowPart>(
    _ tag: UInt8, _ name: StaticString, _ part: inout Part, default: Part
  ) throws {
    guard fields.tags.contains(tag) else { return }
    if try !decode(tag, name, &part) { part = `default` }
  }

  mutating func choice<Part: RowPart>(
    _ tag: UInt8, _ name: StaticString, _ part: @autoclosure () -> Part?, set: (Part) -> Void
  ) throws {
    guard fields.tags.contains(tag) else { return }
    fields.choices.asked += 1
    guard try seek(tag) else { return }
    var part = Part.blank
    _ = try decode(tag, name, &part)
    fields.choices.found += 1
    set(part)
  }

  mutating func endChoice() throws {
    guard fields.choices.asked == 0 || fields.choices.found == 1 else {
      throw damaged("has \(fields.choices.found) of the known kinds instead of one")
    }
    fields.choices = (0, 0)
  }

  /// `decode` must read exactly the bytes of the length, otherwise the row is
  /// ``StoreError/Code/corrupt``.
  mutating func decodeNested<Value>(
    _ decode: (inout RowDecoder) throws -> Value
  ) throws -> Value {
    let outer = enter(try decodeCount())
    let value = try decode(&self)
    try finish()
    leave(to: outer)
    return value
  }

  // MARK: Keys

  private mutating func decode<Part: RowPart>(
    _ tag: UInt8, _ name: StaticString, _ part: inout Part
  ) throws -> Bool {
    guard try seek(tag) else { return false }
    try begin(name, Part.wire)
    try part.read(from: &self)
    try endField()
    return true
  }

  private mutating func seek(_ tag: UInt8) throws -> Bool {
    while fields.tag < tag { try skipField() }
    return fields.tag == tag
  }

  private mutating func begin(_ name: StaticString, _ wire: RowWire) throws {
    fields.field = name
    guard fields.wire == wire else { throw damaged("has content of an unexpected type") }
  }

  private mutating func endField() throws {
    fields.field = nil
    try advance()
  }

  private mutating func skipField() throws {
    try skip(fields.wire)
    try advance()
  }

  /// Each tag must be above the one before, so most damaged rows are found here.
  ///
  /// - Throws: ``StoreError/Code/corrupt`` for other tags, or an unknown kind of content.
  private mutating func advance() throws {
    if fields.isNested, isAtEnd {
      fields.tag = Fields.end
      return
    }
    let key = try decodeUnsigned()
    if key == Self.endKey, !fields.isNested {
      fields.tag = Fields.end
      return
    }
    guard key >> 2 > fields.tag, let wire = RowWire(rawValue: UInt8(key & 3)) else {
      throw damaged("has the unexpected key \(key)")
    }
    (fields.tag, fields.wire) = (key >> 2, wire)
  }

  private func missing(_ name: StaticString) -> any Error {
    var decoder = self
    decoder.fields.field = name
    return decoder.damaged("is missing")
  }
}
