import CloudKitModel

extension RowEncoder: RowCoder {
  /// Encodes fields in the order of the tags. The value stays as it is, but
  /// ``RowCodable/code(_:)`` is mutating.
  mutating func encodeFields<Value: RowCodable>(of value: inout Value, only tags: RowTags = .all) {
    let outer = self.tags
    self.tags = tags
    value.code(&self)
    self.tags = outer
  }

  mutating func endFields() {
    encode(byte: RowDecoder.endKey)
  }

  mutating func required<Part: RowPart>(_ tag: UInt8, _ name: StaticString, _ part: inout Part) {
    guard tags.contains(tag) else { return }
    encode(tag, Part.wire)
    part.write(to: &self)
  }

  mutating func field<Part: RowPart>(_ tag: UInt8, _ name: StaticString, _ part: inout Part?) {
    guard part != nil, tags.contains(tag) else { return }
    encode(tag, Part.wire)
    part?.write(to: &self)
  }

  mutating func field<Part: RowPart>(
    _ tag: UInt8, _ name: StaticString, _ part: inout Part, default: Part
  ) {
    guard part != `default`, tags.contains(tag) else { return }
    encode(tag, Part.wire)
    part.write(to: &self)
  }

  mutating func choice<Part: RowPart>(
    _ tag: UInt8, _ name: StaticString, _ part: @autoclosure () -> Part?, set: (Part) -> Void
  ) {
    guard tags.contains(tag), var part = part() else { return }
    encode(tag, Part.wire)
    part.write(to: &self)
  }

  mutating func endChoice() {}

  /// The number of bytes comes first.
  mutating func encodeNested(_ encode: (inout RowEncoder) -> Void) {
    let begin = reserveLength()
    encode(&self)
    fillLength(at: begin)
  }

  private mutating func encode(_ tag: UInt8, _ wire: RowWire) {
    encode(count: Int(tag) << 2 | Int(wire.rawValue))
  }
}
