import CloudKitModel
import PropertyTesting
import Testing

struct VocabularyTests {
  @Test("A scope has CKDatabase's number, another one in pushes, and its word in a path")
  func scopes() {
    #expect(DatabaseScope.allCases.map(\.rawValue) == [1, 2, 3])
    #expect(DatabaseScope.allCases == [.public, .private, .shared])
    #expect(DatabaseScope.allCases.map(\.payloadNumber) == [2, 1, 3])
    #expect(DatabaseScope.allCases.map(\.pathComponent) == ["public", "private", "shared"])
    for scope in DatabaseScope.allCases {
      #expect(DatabaseScope(payloadNumber: scope.payloadNumber) == scope)
      #expect(DatabaseScope(pathComponent: scope.pathComponent) == scope)
    }
    #expect(DatabaseScope(payloadNumber: 0) == nil)
    #expect(DatabaseScope(payloadNumber: 4) == nil)
    #expect(DatabaseScope(pathComponent: "Public") == nil)
  }

  @Test("An environment has its word in a path and its number in pushes")
  func environments() {
    #expect(ContainerEnvironment(rawValue: "production")?.payloadNumber == 1)
    #expect(ContainerEnvironment(rawValue: "development")?.payloadNumber == 2)
  }

  @Test("Types have the names of the web services, lists with _LIST")
  func typeNames() {
    #expect(
      ValueType.allCases.map(\.rawValue) == [
        "STRING", "INT64", "DOUBLE", "TIMESTAMP", "BYTES", "LOCATION", "REFERENCE", "ASSETID",
      ])
    for element in ValueType.allCases {
      for type in [FieldType(element), .list(of: element)] {
        #expect(FieldType(name: type.name) == type)
        #expect(type.description == type.name)
      }
      #expect(FieldType.list(of: element).name == element.rawValue + "_LIST")
    }
    #expect(FieldType(name: "ASSET") == FieldType(.asset))
    #expect(FieldType(name: "ASSET_LIST") == .list(of: .asset))
    #expect(FieldType(name: "NUMBER_INT64") == FieldType(.int64))
    #expect(FieldType(name: "NUMBER_DOUBLE_LIST") == .list(of: .double))
    for name in ["", "_LIST", "STRING_LIST_LIST", "string", "NUMBER", "NUMBER_STRING", "LIST"] {
      #expect(FieldType(name: name) == nil, "\(name)")
    }
  }

  @Test("Numbers, strings and timestamps have an order; only numbers are numbers")
  func orderedTypes() {
    #expect(ValueType.allCases.filter(\.isOrdered) == [.string, .int64, .double, .timestamp])
    #expect(ValueType.allCases.filter(\.isNumber) == [.int64, .double])
  }

  @Test("A value knows its type")
  func valueTypes() {
    var generator = SeededGenerator(seed: 1)
    for type in ValueType.allCases {
      #expect(generator.value(of: type).type == FieldType(type))
      #expect(RecordValue.list(of: type, []).type == .list(of: type))
    }
  }

  @Test("Seven comparators have a NOT_… form, whose name says so")
  func negations() {
    let positive = CloudKitModel.Comparator.allCases.filter { $0.negation != nil }
    #expect(positive.count == 7)
    for comparator in positive {
      #expect(comparator.negation?.rawValue == "NOT_" + comparator.rawValue)
      #expect(comparator.negation?.relation == comparator.relation)
      #expect(!comparator.isNegated)
      #expect(comparator.negation?.negation == nil)
      #expect(comparator.negation?.isNegated == true)
    }
    #expect(CloudKitModel.Comparator.allCases.filter(\.relation.isRange).count == 4)
    #expect(
      CloudKitModel.Comparator.allCases.filter(\.relation.comparesList).allSatisfy {
        $0.rawValue.contains("LIST_")
      })
  }

  @Test("A system field answers to its web, native and schema names")
  func systemFields() {
    let names: [SystemField: [String]] = [
      .recordName: ["recordName", "recordID", "___recordID"],
      .createdTimestamp: ["createdTimestamp", "creationDate", "___createTime"],
      .modifiedTimestamp: ["modifiedTimestamp", "modificationDate", "___modTime"],
      .createdUserRecordName: ["createdUserRecordName", "creatorUserRecordID", "___createdBy"],
      .modifiedUserRecordName: [
        "modifiedUserRecordName", "lastModifiedUserRecordID", "___modifiedBy",
      ],
      .recordChangeTag: ["recordChangeTag", "___etag"],
      .parent: ["parent", "___parent"], .share: ["share", "___share"],
    ]
    #expect(names.count == SystemField.allCases.count)
    for (field, names) in names {
      for name in names { #expect(SystemField(anyName: name) == field, "\(name)") }
      #expect(names.contains(field.schemaName))
    }
    #expect(SystemField(anyName: "title") == nil)
    #expect(SystemField(anyName: "RecordName") == nil)
  }

  @Test("Events have the numbers of CKQueryNotification.Reason and need the matching option")
  func events() {
    #expect(ChangeEvent.allCases.map(\.rawValue) == [1, 2, 3, 4, 5])
    #expect(
      ChangeEvent.allCases.map(\.queryOption) == [
        .firesOnRecordCreation, .firesOnRecordUpdate, .firesOnRecordDeletion, nil, nil,
      ])
  }
}
