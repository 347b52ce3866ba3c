import CloudKitModel
import StoreModel
import Testing

@testable import Storage

/// Tests of what an operation does with a stored record, without a store.
struct RecordDecisionTests {
  /// A decision without its record, or the code of a failure.
  enum Outcome: Equatable {
    case save, delete, nothing
    case failure(ItemFailure.Code)

    static let exists = failure(.exists)
    static let notFound = failure(.notFound)
    static let conflict = failure(.conflict)
    static let invalid = failure(.invalid)
  }

  /// The record that an operation finds, and the operation's change tag.
  enum Found: CaseIterable {
    case noRecord, sameTag, otherTag, noTag
  }

  /// The type that an operation names.
  enum Named: String, CaseIterable {
    case same = "Note"
    case other = "List"
    case none
  }

  private static let id = RecordID(recordName: "r")
  private static let user = "_alice"
  private static let stored = Record(
    recordID: id, recordType: "Note", recordChangeTag: "t1",
    created: Record.Stamp(timestamp: Timestamp(milliseconds: 1), userRecordName: "_bob"),
    modified: Record.Stamp(timestamp: Timestamp(milliseconds: 2), userRecordName: "_bob"),
    fields: ["kept": .string("old"), "changed": .int64(1), "removed": .int64(2)])
  private static let modification = RecordModification(
    database: DatabaseID(rawValue: 1), operations: [], isAtomic: false,
    origin: ChangeOrigin(userRecordName: user, deviceID: "phone"),
    timestamp: Timestamp(milliseconds: 9))
  /// The stamp of the modification.
  private static let stamp = Record.Stamp(
    timestamp: Timestamp(milliseconds: 9), userRecordName: user, deviceID: "phone")

  private static func outcome(_ operation: RecordOperation, on record: Record?) -> Outcome {
    do {
      switch try operation.decision(on: record, in: modification) {
      case .save: return .save
      case .delete: return .delete
      case .nothing: return .nothing
      }
    } catch {
      return .failure(error.code)
    }
  }

  private static func operation(
    _ kind: RecordOperation.Kind, _ found: Found = .sameTag, _ named: Named = .same
  ) -> RecordOperation {
    RecordOperation(
      kind: kind, recordID: id, recordType: named == .none ? nil : named.rawValue,
      recordChangeTag: found == .noTag ? nil : found == .otherTag ? "t0" : "t1")
  }

  private static func saved(_ operation: RecordOperation, on record: Record?) throws -> Record {
    guard case .save(let saved) = try operation.decision(on: record, in: modification) else {
      throw ItemFailure(.invalid, "the operation saves no record")
    }
    return saved
  }

  // MARK: Kinds

  /// In the order of ``Found``, for an operation that names the record's type.
  static let byTag: [RecordOperation.Kind: [Outcome]] = [
    .create: [.save, .exists, .exists, .exists],
    .update: [.notFound, .save, .conflict, .conflict],
    .replace: [.notFound, .save, .conflict, .conflict],
    .forceUpdate: [.save, .save, .save, .save],
    .forceReplace: [.save, .save, .save, .save],
    .delete: [.notFound, .delete, .conflict, .conflict],
    .forceDelete: [.nothing, .delete, .delete, .delete],
  ]

  @Test(
    "an operation succeeds or fails by its kind, the record and the change tag",
    arguments: RecordOperation.Kind.allCases)
  func tags(_ kind: RecordOperation.Kind) {
    let outcomes = Found.allCases.map { found in
      Self.outcome(
        Self.operation(kind, found), on: found == .noRecord ? nil : Self.stored)
    }
    #expect(outcomes == Self.byTag[kind])
  }

  /// In the order of ``Named``: without a record, then with a record of the operation's tag.
  static let byType: [RecordOperation.Kind: [[Outcome]]] = [
    .create: [[.save, .save, .invalid], [.exists, .exists, .exists]],
    .update: [[.notFound, .notFound, .notFound], [.save, .invalid, .save]],
    .replace: [[.notFound, .notFound, .notFound], [.save, .invalid, .save]],
    .forceUpdate: [[.save, .save, .invalid], [.save, .invalid, .save]],
    .forceReplace: [[.save, .save, .invalid], [.save, .invalid, .save]],
    .delete: [[.notFound, .notFound, .notFound], [.delete, .delete, .delete]],
    .forceDelete: [[.nothing, .nothing, .nothing], [.delete, .delete, .delete]],
  ]

  @Test(
    "a new record needs a type, and a stored one keeps its type",
    arguments: RecordOperation.Kind.allCases)
  func types(_ kind: RecordOperation.Kind) {
    let outcomes = [nil, Self.stored].map { record in
      Named.allCases.map { Self.outcome(Self.operation(kind, .sameTag, $0), on: record) }
    }
    #expect(outcomes == Self.byType[kind])
  }

  @Test("a wrong change tag is refused before a wrong type, with the stored record")
  func order() {
    let failure = #expect(throws: ItemFailure.self) {
      try Self.operation(.update, .otherTag, .other)
        .decision(on: Self.stored, in: Self.modification)
    }
    #expect(failure?.code == .conflict)
    #expect(failure?.field == "recordChangeTag")
    #expect(failure?.serverRecord == Self.stored)
    let known = #expect(throws: ItemFailure.self) {
      try Self.operation(.create).decision(on: Self.stored, in: Self.modification)
    }
    #expect(known?.serverRecord == Self.stored)
  }

  // MARK: Fields

  /// The fields of an operation that sets `changed` and `new`, and gives `removed` no value.
  private static let named: RecordFields<RecordValue> = ["changed": .int64(7), "new": .string("n")]
  private static let merged: RecordFields<RecordValue> = [
    "changed": .int64(7), "kept": .string("old"), "new": .string("n"),
  ]
  /// The fields of the stored record after the operation.
  static let fields = [
    RecordOperation.Kind.update: merged, .forceUpdate: merged, .replace: named,
    .forceReplace: named,
  ]

  @Test(
    "an update keeps the fields that it does not name, and a replacement removes them",
    arguments: [RecordOperation.Kind.update, .replace, .forceUpdate, .forceReplace])
  func fields(_ kind: RecordOperation.Kind) throws {
    var operation = Self.operation(kind)
    operation.fields = ["changed": .int64(7), "new": .string("n"), "removed": nil]
    let saved = try Self.saved(operation, on: Self.stored)
    #expect(saved.fields == Self.fields[kind])
    #expect(saved.created == Self.stored.created)
    #expect(saved.modified == Self.stamp)
    #expect(saved.recordChangeTag == nil)
    operation.kind = .create
    let new = try Self.saved(operation, on: nil)
    #expect(new.fields == Self.named)
    #expect(new.created == Self.stamp)
    #expect(new.modified == Self.stamp)
  }

  @Test("a field is encrypted as the last operation that named it says")
  func encryption() throws {
    var record = Self.stored
    record.encryptedFields = ["kept", "changed", "removed"]
    func encrypted(_ kind: RecordOperation.Kind) throws -> Set<String> {
      var operation = Self.operation(kind)
      operation.fields = ["changed": .int64(7), "new": .int64(8), "removed": nil]
      operation.encryptedFields = ["new", "removed"]
      return try Self.saved(operation, on: kind == .create ? nil : record).encryptedFields
    }
    #expect(try encrypted(.create) == ["new"])
    #expect(try encrypted(.update) == ["kept", "new"])
    #expect(try encrypted(.replace) == ["new"])
  }

  @Test("an operation sets the parent, removes it, or leaves it")
  func parent() throws {
    let parent = Reference(recordName: "p", action: .none)
    var record = Self.stored
    record.parent = parent
    func after(_ change: Reference??, on record: Record?) throws -> Reference? {
      var operation = Self.operation(record == nil ? .create : .update)
      operation.parent = change
      return try Self.saved(operation, on: record).parent
    }
    let other = Reference(recordName: "q", action: .none)
    #expect(try after(nil, on: record) == parent)
    #expect(try after(.some(nil), on: record) == nil)
    #expect(try after(other, on: record) == other)
    #expect(try after(other, on: nil) == other)
    #expect(try after(nil, on: nil) == nil)
  }

  // MARK: Names

  /// Names of new records, with their types, and whether a record may be created with them.
  static let names: [(name: String, type: String, outcome: Outcome)] = [
    ("a note", "Note", .save),
    ("_reserved", "Note", .invalid),
    ("_reserved", "Users", .invalid),
    (user, "Users", .save),
    (user, "Note", .invalid),
    ("", "Note", .invalid),
    (String(repeating: "n", count: ServiceLimits.nameLength), "Note", .save),
    (String(repeating: "n", count: ServiceLimits.nameLength + 1), "Note", .invalid),
    (ShareContent.zoneShareName, ShareContent.recordType, .save),
    (ShareContent.zoneShareName, "Note", .invalid),
  ]

  @Test(
    "a new record has no reserved name, whichever kind creates it",
    arguments: [RecordOperation.Kind.create, .forceUpdate, .forceReplace])
  func names(_ kind: RecordOperation.Kind) {
    for (name, type, outcome) in Self.names {
      let operation = RecordOperation(
        kind: kind, recordID: RecordID(recordName: name), recordType: type)
      #expect(Self.outcome(operation, on: nil) == outcome, "\(type) '\(name)'")
    }
  }

  @Test("a stored record with a reserved name can be changed")
  func storedNames() {
    var record = Self.stored
    record.recordID = RecordID(recordName: "_reserved")
    var operation = Self.operation(.update)
    operation.recordID = record.recordID
    #expect(Self.outcome(operation, on: record) == .save)
  }
}
