import CloudKitModel
import PropertyTesting
import SchemaLanguage
import Testing

struct SchemaPrintingTests {
  @Test("a schema is printed in order, with all system fields, in columns")
  func canonical() throws {
    let schema = ContainerSchema(
      roles: ["test role", "Editor"],
      recordTypes: [
        "Note": .init(
          fields: [
            "title": .init(.init(.string), indexes: [.queryable, .sortable, .searchable]),
            "grant": .init(.init(.asset)),
            "longNameOfAField": .init(.list(of: .int64), indexes: [.queryable]),
          ], systemIndexes: [.createdTimestamp: [.sortable]],
          grants: RecordGrants(["_world": .read, "_creator": .all, "test role": .write])),
        "Users": .init(),
      ])
    #expect(
      schema.text == """
        DEFINE SCHEMA

            CREATE ROLE Editor;

            CREATE ROLE "test role";

            RECORD TYPE Note (
                "___createTime"  TIMESTAMP SORTABLE,
                "___createdBy"   REFERENCE,
                "___etag"        STRING,
                "___modTime"     TIMESTAMP,
                "___modifiedBy"  REFERENCE,
                "___recordID"    REFERENCE,
                "grant"          ASSET,
                longNameOfAField LIST<INT64> QUERYABLE,
                title            STRING QUERYABLE SEARCHABLE SORTABLE,
                GRANT READ, CREATE, WRITE TO "_creator",
                GRANT READ TO "_world",
                GRANT WRITE TO "test role"
            );

            RECORD TYPE Users (
                "___createTime" TIMESTAMP,
                "___createdBy"  REFERENCE,
                "___etag"       STRING,
                "___modTime"    TIMESTAMP,
                "___modifiedBy" REFERENCE,
                "___recordID"   REFERENCE,
                GRANT WRITE TO "_creator",
                GRANT CREATE TO "_icloud",
                GRANT READ TO "_world"
            );

        """)
    #expect(ContainerSchema().text == "DEFINE SCHEMA\n")
  }

  @Test("what is printed is read as the same schema", arguments: Seeds.some(8))
  func roundTrip(seed: Int) throws {
    var generator = SeededGenerator(seed: seed)
    for round in 0..<250 {
      let schema = ContainerSchema.random(using: &generator)
      let text = schema.text
      let read = try ContainerSchema(parsing: text)
      #expect(read == schema, "seed \(seed), round \(round):\n\(text)")
      #expect(read.text == text, "seed \(seed), round \(round)")
    }
  }

  @Test("a damaged text is read or refused with a place in it", arguments: Seeds.some(4))
  func damage(seed: Int) throws {
    var generator = SeededGenerator(seed: seed)
    for round in 0..<300 {
      var scalars = Array(ContainerSchema.random(using: &generator).text.unicodeScalars)
      for _ in 0..<Int.random(in: 1...4, using: &generator) {
        let index = Int.random(in: 0..<scalars.count, using: &generator)
        switch Int.random(in: 0..<3, using: &generator) {
        case 0: scalars.remove(at: index)
        case 1: scalars.insert(generator.pick(Array("\"(<;,/*-_é\n".unicodeScalars)), at: index)
        default: scalars.swapAt(index, Int.random(in: 0..<scalars.count, using: &generator))
        }
      }
      let text = String(String.UnicodeScalarView(scalars))
      do {
        _ = try ContainerSchema(parsing: text)
      } catch {
        #expect(
          error.excerpt(of: text) != nil, "seed \(seed), round \(round): \(error)\n\(text)")
      }
    }
  }
}

extension ContainerSchema {
  static func random(using generator: inout SeededGenerator) -> ContainerSchema {
    var schema = ContainerSchema()
    for _ in 0..<Int.random(in: 0...3, using: &generator) {
      schema.roles.insert(
        generator.pick(["Editor", "test role", "grant", "Ärzte", "a-b", "List", "r2"]))
    }
    for _ in 0..<Int.random(in: 0...4, using: &generator) {
      schema.recordTypes[name(using: &generator)] = .random(
        roles: schema.roles, using: &generator)
    }
    return schema
  }

  fileprivate static func name(using generator: inout SeededGenerator) -> String {
    if generator.chance(1, in: 4) {
      return generator.pick([
        "grant", "GRANT", "preferred", "Queryable", "sortable", "searchable", "list", "LIST",
        "record", "type", "to", "encrypted", "number", "string", "define", "create", "read",
      ])
    }
    let letters = Array("abcXYZ")
    let more = letters + Array("019_")
    return String(generator.pick(letters))
      + String((0..<Int.random(in: 0...12, using: &generator)).map { _ in generator.pick(more) })
  }
}

extension ContainerSchema.RecordType {
  fileprivate static func random(
    roles: Set<String>, using generator: inout SeededGenerator
  ) -> ContainerSchema.RecordType {
    var type = ContainerSchema.RecordType()
    for _ in 0..<Int.random(in: 0...6, using: &generator) {
      let name = ContainerSchema.name(using: &generator)
      type.fields[name] = .random(using: &generator)
    }
    for field in SystemField.inSchema where generator.chance(1, in: 2) {
      let indexes = randomIndexes(of: FieldType(field.schemaType), using: &generator)
      if !indexes.isEmpty { type.systemIndexes[field] = indexes }
    }
    var grants = RecordGrants()
    for role in roles.sorted() + RecordGrants.SystemRole.all.sorted()
    where generator.chance(1, in: 2) {
      grants.grant(
        RecordPermissions(rawValue: UInt8.random(in: 1...7, using: &generator)), to: role)
    }
    if !grants.permissions.isEmpty { type.grants = grants }
    return type
  }
}

extension ContainerSchema.Field {
  fileprivate static func random(
    using generator: inout SeededGenerator
  ) -> ContainerSchema.Field {
    let type = FieldType(
      generator.pick(ValueType.allCases), isList: generator.chance(1, in: 3))
    let canBeEncrypted = type.element != .asset && type.element != .reference
    if canBeEncrypted, generator.chance(1, in: 4) { return .init(type, isEncrypted: true) }
    return .init(type, indexes: randomIndexes(of: type, using: &generator))
  }
}

private func randomIndexes(
  of type: FieldType, using generator: inout SeededGenerator
) -> FieldIndexes {
  FieldIndexes(rawValue: UInt8.random(in: 0...7, using: &generator))
    .intersection(.allowed(for: type))
}
