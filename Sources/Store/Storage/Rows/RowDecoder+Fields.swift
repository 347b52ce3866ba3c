import CloudKitModel

extension RowDecoder: RowCoder {
  /// The key after the last field of a row. A row that is the content of a field of another row has
  /// no end key: it ends with that field.
  static var endKey: UInt8 { 0 }

  /// The state of ``RowDecoder`` while it reads the fields of one row. For a row inside a field of
  /// another row, the decoder uses a second state.
  struct Fields {
    /// The tag of the next field; ``end`` after the last field.
    var tag: UInt64 = 0
    /// The kind of the next field's content.
    var wire = RowWire.number
    /// Whether the row is the content of a field of another row. Such a row ends with that field,
    /// without an end key.
    var isNested = false
    /// The fields to decode; the decoder skips the others.
    var tags = RowTags.all
    /// The cases of the current enum: how many ``RowCodable/code(_:)`` has asked for, and how many
    /// of them the row has.
    var choices = (asked: 0, found: 0)
    /// The name of the row's type, for errors.
    var row: StaticString?
    /// The name of the row's current field, for errors.
    var field: StaticString?

    /// The value of ``tag`` after the last field, above all tags.
    static let end = UInt64.max
  }

  /// Decodes the fields of a row into a value, and skips unknown fields. If an optional field is
  /// missing in the row, or its tag is not in `tags`, the value keeps what it has.
  ///
  /// - Parameters:
  ///   - value: the value whose fields are set.
  ///   - tags: the fields to decode; the others are skipped.
  ///   - isNested: whether the row is the content of a field of another row, and so has no end key.
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

  /// Decodes a content with a length: it calls `decode`, which must read exactly that many bytes.
  ///
  /// - Throws: ``StoreError/Code/corrupt`` if `decode` reads fewer bytes, or needs more.
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

  /// Decodes a field, and moves to the next one.
  ///
  /// - Returns: false if the row has no field with this tag; `part` then stays as it is.
  private mutating func decode<Part: RowPart>(
    _ tag: UInt8, _ name: StaticString, _ part: inout Part
  ) throws -> Bool {
    guard try seek(tag) else { return false }
    try begin(name, Part.wire)
    try part.read(from: &self)
    try endField()
    return true
  }

  /// Skips the fields with lower tags.
  ///
  /// - Returns: false if the row has no field with this tag.
  private mutating func seek(_ tag: UInt8) throws -> Bool {
    while fields.tag < tag { try skipField() }
    return fields.tag == tag
  }

  /// Begins a field: notes its name for errors, and checks the kind of its content.
  private mutating func begin(_ name: StaticString, _ wire: RowWire) throws {
    fields.field = name
    guard fields.wire == wire else { throw damaged("has content of an unexpected type") }
  }

  /// Ends a field, and reads the next key.
  private mutating func endField() throws {
    fields.field = nil
    try advance()
  }

  /// Skips the next field.
  private mutating func skipField() throws {
    try skip(fields.wire)
    try advance()
  }

  /// Reads the next key. Each tag must be above the one before, so most damaged rows are found
  /// here.
  ///
  /// - Throws: ``StoreError/Code/corrupt`` for a tag that is not above the one before, or an
  ///   unknown kind of content.
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

  /// Returns the error of a row without a required field.
  private func missing(_ name: StaticString) -> any Error {
    var decoder = self
    decoder.fields.field = name
    return decoder.damaged("is missing")
  }
}
