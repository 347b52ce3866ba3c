import CloudKitModel
import SchemaLanguage
import Testing

struct SchemaParsingTests {
  @Test("the example of the schema language is read")
  func example() throws {
    let schema = try ContainerSchema(
      parsing: """
        DEFINE SCHEMA

            CREATE ROLE Editor;

            RECORD TYPE Note (
                "___createTime" TIMESTAMP QUERYABLE SORTABLE,
                "___recordID"   REFERENCE QUERYABLE,
                title           STRING QUERYABLE SORTABLE SEARCHABLE,
                tags            LIST<STRING> QUERYABLE,
                rank            NUMBER PREFERRED AS INT64,
                secret          ENCRYPTED STRING,
                GRANT WRITE TO "_creator",
                GRANT CREATE TO "_icloud",
                GRANT READ TO "_world"
            );
        """)
    #expect(schema.roles == ["Editor"])
    let note = try #require(schema.recordTypes["Note"])
    #expect(
      note.fields == [
        "title": .init(.init(.string), indexes: [.queryable, .sortable, .searchable]),
        "tags": .init(.list(of: .string), indexes: [.queryable]),
        "rank": .init(.init(.int64)),
        "secret": .init(.init(.string), isEncrypted: true),
      ])
    #expect(
      note.systemIndexes == [
        .createdTimestamp: [.queryable, .sortable], .recordName: [.queryable],
      ])
    #expect(note.grants == .standard)
  }

  @Test("comments of all three kinds, any case of keywords and other ends of lines are accepted")
  func leniency() throws {
    let schema = try ContainerSchema(
      parsing:
        "\u{FEFF}define schema // one\r\n-- two\r\n/* three\r\n * lines */ record type A(a int64"
        + " /**/ queryable,\r\n\tb double--end\r\n);create role \"test role\";")
    #expect(schema.roles == ["test role"])
    #expect(
      schema.recordTypes["A"]?.fields == [
        "a": .init(.init(.int64), indexes: [.queryable]), "b": .init(.init(.double)),
      ])
    #expect(try ContainerSchema(parsing: "DEFINE SCHEMA") == ContainerSchema())
    #expect(
      try ContainerSchema(parsing: "DEFINE SCHEMA RECORD TYPE A ();").recordTypes["A"]
        == ContainerSchema.RecordType())
  }

  @Test("names that are words of the language stand in quotes, others need none")
  func names() throws {
    let schema = try ContainerSchema(
      parsing: """
        DEFINE SCHEMA CREATE ROLE "Grant";
        RECORD TYPE Record (
          "grant" STRING, "Queryable" STRING, list LIST<STRING>, string STRING, "plain" STRING,
          to INT64, type INT64, define INT64, encrypted ENCRYPTED STRING,
          GRANT READ, CREATE, WRITE TO "Grant", GRANT READ TO "Grant");
        """)
    #expect(
      Set(schema.recordTypes["Record"]?.fields.keys.map { $0 } ?? [])
        == [
          "grant", "Queryable", "list", "string", "plain", "to", "type", "define", "encrypted",
        ])
    #expect(schema.recordTypes["Record"]?.grants == RecordGrants(["Grant": .all]))
  }

  @Test("every type is read")
  func types() throws {
    let types: [(String, ContainerSchema.Field)] = [
      ("ASSET", .init(.init(.asset))), ("BYTES", .init(.init(.bytes))),
      ("BYTES QUERYABLE", .init(.init(.bytes), indexes: [.queryable])),
      ("BYTES QUERYABLE SORTABLE", .init(.init(.bytes), indexes: [.queryable, .sortable])),
      ("DOUBLE", .init(.init(.double))), ("INT64", .init(.init(.int64))),
      ("LOCATION", .init(.init(.location))), ("NUMBER", .init(.init(.double))),
      ("NUMBER PREFERRED AS DOUBLE", .init(.init(.double))),
      ("NUMBER PREFERRED AS INT64 SORTABLE", .init(.init(.int64), indexes: [.sortable])),
      ("REFERENCE", .init(.init(.reference))), ("STRING", .init(.init(.string))),
      ("TIMESTAMP", .init(.init(.timestamp))), ("LIST<ASSET>", .init(.list(of: .asset))),
      ("LIST < NUMBER PREFERRED AS INT64 >", .init(.list(of: .int64))),
      ("ENCRYPTED BYTES", .init(.init(.bytes), isEncrypted: true)),
      ("LIST<ENCRYPTED STRING>", .init(.list(of: .string), isEncrypted: true)),
      ("ENCRYPTED LIST<STRING>", .init(.list(of: .string), isEncrypted: true)),
    ]
    for (text, field) in types {
      let schema = try ContainerSchema(parsing: "DEFINE SCHEMA RECORD TYPE A (a \(text));")
      #expect(schema.recordTypes["A"]?.fields["a"] == field, "\(text)")
    }
  }

  @Test(
    "a mistake is told with line, column and what was expected",
    arguments: [
      ("", 1, 1, "expected DEFINE, found the end of the text"),
      ("DEFINE\n  TABLE", 2, 3, "expected SCHEMA, found 'TABLE'"),
      ("DEFINE SCHEMA\nDROP", 2, 1, "expected CREATE ROLE or RECORD TYPE, found 'DROP'"),
      ("DEFINE SCHEMA\n  RECORD TYPE A (x STRNG);", 2, 20, "expected the type of field 'x'"),
      ("DEFINE SCHEMA RECORD TYPE A (x LIST STRING);", 1, 37, "expected '<' after LIST"),
      ("DEFINE SCHEMA RECORD TYPE A (x STRING FAST);", 1, 39, "expected QUERYABLE, SORTABLE"),
      ("DEFINE SCHEMA RECORD TYPE A (x STRING,);", 1, 39, "expected a field or GRANT, found ')'"),
      ("DEFINE SCHEMA RECORD TYPE A (x STRING)", 1, 39, "expected ';' after the record type"),
      ("DEFINE SCHEMA RECORD TYPE A (x STRING \"y\" STRING);", 1, 39, "expected ',' or ')'"),
      ("DEFINE SCHEMA RECORD TYPE A (x ASSET QUERYABLE);", 1, 38, "cannot be QUERYABLE"),
      ("DEFINE SCHEMA RECORD TYPE A (x INT64 SEARCHABLE);", 1, 38, "cannot be SEARCHABLE"),
      ("DEFINE SCHEMA RECORD TYPE A (x LIST<INT64> SORTABLE);", 1, 44, "cannot be SORTABLE"),
      ("DEFINE SCHEMA RECORD TYPE A (x INT64 QUERYABLE QUERYABLE);", 1, 48, "already"),
      ("DEFINE SCHEMA RECORD TYPE A (x ENCRYPTED STRING QUERYABLE);", 1, 49, "is encrypted"),
      ("DEFINE SCHEMA RECORD TYPE A (x ENCRYPTED ASSET);", 1, 42, "cannot be ENCRYPTED"),
      ("DEFINE SCHEMA RECORD TYPE A (x ENCRYPTED NUMBER);", 1, 42, "expected the type"),
      ("DEFINE SCHEMA RECORD TYPE A (x NUMBER PREFERRED AS STRING);", 1, 52, "INT64 or DOUBLE"),
      ("DEFINE SCHEMA RECORD TYPE A (x STRING, x INT64);", 1, 40, "field 'x' is already defined"),
      ("DEFINE SCHEMA RECORD TYPE A (); RECORD TYPE A ();", 1, 45, "'A' is already defined"),
      ("DEFINE SCHEMA CREATE ROLE A; CREATE ROLE A;", 1, 42, "role 'A' is already created"),
      ("DEFINE SCHEMA CREATE ROLE \"_x\";", 1, 27, "reserved for system roles"),
      (
        "DEFINE SCHEMA RECORD TYPE A (queryable STRING);", 1, 30,
        "write the name in quotes: \"queryable\""
      ),
      (
        "DEFINE SCHEMA RECORD TYPE A (___etag STRING);", 1, 30,
        "write the name in quotes: \"___etag\""
      ),
      ("DEFINE SCHEMA RECORD TYPE A (\"___etag\" INT64);", 1, 40, "is of type STRING"),
      ("DEFINE SCHEMA RECORD TYPE A (\"___size\" INT64);", 1, 30, "unknown system field '___size'"),
      ("DEFINE SCHEMA RECORD TYPE A (\"x y\" INT64);", 1, 30, "must begin with a letter"),
      (
        "DEFINE SCHEMA RECORD TYPE \"cloudkit.share\" (); RECORD TYPE \"cloudkit.share\" ();", 1,
        60,
        "is already defined"
      ),
      (
        "DEFINE SCHEMA RECORD TYPE A (\"cloudkit.title\" STRING);", 1, 30,
        "must begin with a letter"
      ),
      ("DEFINE SCHEMA RECORD TYPE A (GRANT ALL TO \"_world\");", 1, 36, "expected READ, CREATE"),
      ("DEFINE SCHEMA RECORD TYPE A (GRANT READ FOR B);", 1, 41, "expected TO, found 'FOR'"),
      ("DEFINE SCHEMA RECORD TYPE A (GRANT READ TO B);", 1, 44, "role 'B' is not created"),
      ("DEFINE SCHEMA RECORD TYPE A (GRANT READ TO \"_b\");", 1, 44, "unknown system role '_b'"),
      ("DEFINE SCHEMA\n/* open", 2, 1, "no closing '*/'"),
      ("DEFINE SCHEMA\nCREATE ROLE \"open\n\";", 2, 13, "no closing '\"'"),
      ("DEFINE SCHEMA # x", 1, 15, "unexpected character '#'"),
    ])
  func mistakes(text: String, line: Int, column: Int, reason: String) throws {
    let error = try #require(throws: SchemaSyntaxError.self) {
      _ = try ContainerSchema(parsing: text)
    }
    #expect(error.line == line, "\(error)")
    #expect(error.column == column, "\(error)")
    #expect(error.reason.contains(reason), "\(error)")
  }

  @Test("an excerpt shows the line with a caret below the place")
  func excerpt() throws {
    let text = "DEFINE SCHEMA\r\n\tRECORD TYPE A (x STRNG);\r\n"
    let error = try #require(throws: SchemaSyntaxError.self) {
      _ = try ContainerSchema(parsing: text)
    }
    #expect(
      error.excerpt(of: text) == "\tRECORD TYPE A (x STRNG);\n\t                 ^")
    #expect(error.excerpt(of: "") == nil)
  }

  /// Schemas in the shapes of public exports of iCloud, with other names: of Core Data and SwiftData,
  /// of an app with shares, and one with comments between the items. Each has its number of types
  /// without the system's.
  static let exports: [(text: String, types: Int)] = [
    (
      """
      DEFINE SCHEMA

          RECORD TYPE CD_Trip (
              CD_cover        BYTES QUERYABLE SORTABLE,
              CD_cover_ckAsset ASSET,
              CD_entityName   STRING QUERYABLE SEARCHABLE SORTABLE,
              CD_isDone       INT64 QUERYABLE SORTABLE,
              CD_moveReceipt  BYTES QUERYABLE SORTABLE,
              CD_moveReceipt_ckAsset ASSET,
              CD_start        TIMESTAMP QUERYABLE SORTABLE,
              CD_weight       DOUBLE QUERYABLE SORTABLE,
              "___createTime" TIMESTAMP,
              "___createdBy"  REFERENCE,
              "___etag"       STRING,
              "___modTime"    TIMESTAMP QUERYABLE,
              "___modifiedBy" REFERENCE,
              "___recordID"   REFERENCE QUERYABLE,
              GRANT WRITE TO "_creator",
              GRANT CREATE TO "_icloud",
              GRANT READ TO "_world"
          );

          RECORD TYPE Users (
              "___createTime" TIMESTAMP,
              "___createdBy"  REFERENCE,
              "___etag"       STRING,
              "___modTime"    TIMESTAMP,
              "___modifiedBy" REFERENCE,
              "___recordID"   REFERENCE,
              roles           LIST<INT64>,
              GRANT WRITE TO "_creator",
              GRANT READ TO "_world"
          );
      """, 1
    ),
    (
      """
      DEFINE SCHEMA

          RECORD TYPE List (
              "___createTime" TIMESTAMP,
              "___recordID"   REFERENCE QUERYABLE,
              owner           REFERENCE QUERYABLE SORTABLE,
              place           LOCATION QUERYABLE SORTABLE,
              secret          ENCRYPTED STRING,
              words           LIST<STRING> QUERYABLE SEARCHABLE,
              GRANT WRITE TO "_creator",
              GRANT CREATE TO "_icloud",
              GRANT READ TO "_world"
          );

          RECORD TYPE "cloudkit.share" (
              "___createTime"               TIMESTAMP,
              "___createdBy"                REFERENCE,
              "___etag"                     STRING,
              "___modTime"                  TIMESTAMP,
              "___modifiedBy"               REFERENCE,
              "___recordID"                 REFERENCE,
              "cloudkit.thumbnailImageData" BYTES,
              "cloudkit.title"              STRING,
              "cloudkit.type"               STRING,
              colour                        STRING,
              GRANT WRITE TO "_creator",
              GRANT CREATE TO "_icloud",
              GRANT READ TO "_world"
          );
      """, 1
    ),
    (
      """
      DEFINE SCHEMA
          CREATE ROLE admin;

          -- What everyone may read
          RECORD TYPE Rate (
              -- Amounts
              amounts LIST<DOUBLE> QUERYABLE,
              rates   BYTES QUERYABLE SORTABLE,
              GRANT READ, WRITE TO admin,
              GRANT READ TO "_world"
          );
      """, 1
    ),
  ]

  @Test(
    "Exports of iCloud are read, and what Petrel prints of them is the same schema",
    arguments: exports)
  func exportsOfICloud(text: String, types: Int) throws {
    let schema = try ContainerSchema(parsing: text)
    #expect(schema.recordTypes.keys.filter { $0 != "Users" }.count == types)
    #expect(schema.recordTypes["cloudkit.share"] == nil)
    #expect(try ContainerSchema(parsing: schema.text) == schema)
  }
}
