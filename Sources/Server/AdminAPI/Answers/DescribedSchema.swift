import CloudKitModel
import JSONCoding
import SchemaLanguage
import Storage
import StoreModel
import WebServices

/// The answer of `schema`: the schema of a container's environment, and the index builds that are
/// not finished.
struct DescribedSchema: Sendable {
  var schema: ContainerSchema
  var subscriptionTypes: [SubscriptionType]
  var indexWork: [IndexWork]

  /// The answer's shape. Types, fields and roles are in alphabetical order.
  static let shape = AnswerShape<DescribedSchema>("Schema") { described in
    described.list("recordTypes", of: recordType) { described in
      described.schema.recordTypes.sorted { $0.key < $1.key }.map { ($0.key, $0.value) }
    }
    described.member("subscriptionTypes") { $0.subscriptionTypes.map { "\($0)" } }
    described.member("roles") { $0.schema.roles.sorted() }
    described.list("indexWork", of: IndexWork.shape) { $0.indexWork }
    described.member("text") { $0.schema.text }
  }

  private typealias NamedType = (name: String, type: ContainerSchema.RecordType)
  private typealias Field = (name: String, type: String, indexes: [String])

  private static let recordType = AnswerShape<NamedType>("RecordType") { named in
    named.member("recordType") { $0.name }
    named.list("fields", of: field) { named in
      named.type.fields.sorted { $0.key < $1.key }.map { name, field in
        (name, field.typeText, field.indexes.names)
      }
    }
    named.list("systemFields", of: field) { named in
      SystemField.inSchema.map { field in
        (
          field.schemaName, field.schemaType.rawValue,
          (named.type.systemIndexes[field] ?? []).names
        )
      }
    }
    named.map("grants") { named in
      named.type.grants.permissions.mapValues(\.names)
    }
  }

  private static let field = AnswerShape<Field>("Field") { field in
    field.member("name") { $0.name }
    field.member("type") { $0.type }
    field.member("indexes") { $0.indexes }
  }
}

extension IndexWork {
  fileprivate static let shape = AnswerShape<IndexWork>("IndexWork") { work in
    work.members(of: members) { $0 }
  }

  static let placedShape = AnswerShape<IndexWork>("PlacedIndexWork") { work in
    work.member("container") { $0.container }
    work.member("environment") { $0.environment }
    work.members(of: members) { $0 }
    work.member("text") { "\($0.name): \($0.progress)" }
  }

  private static let members = AnswerShape<IndexWork> { work in
    work.member("recordType") { $0.recordType }
    work.member("field") { $0.field }
    work.member("phase", as: .word(["clearing", "building"])) {
      $0.phase == .clearing ? "clearing" : "building"
    }
    work.member("done", as: .count) { $0.done }
    work.optional("total", as: .count) { $0.total }
  }
}

extension SchemaOutcome {
  static let shape = AnswerShape<SchemaOutcome>("SchemaOutcome") { outcome in
    outcome.member("changes") { $0.changes.map { "\($0)" } }
    outcome.member("refusals") { $0.refusals.map(\.reason) }
  }
}

/// The answer of `schema/validate`: the numbers of record types, fields and roles in a schema, and
/// the result of an import as a dry run.
struct SchemaReport: Sendable {
  var schema: ContainerSchema
  /// The result of the dry run; nil if the request names no container.
  var outcome: SchemaOutcome?

  static let shape = AnswerShape<SchemaReport>("SchemaReport") { report in
    report.member("recordTypes", as: .count) { $0.schema.recordTypes.count }
    report.member("fields", as: .count) { report in
      report.schema.recordTypes.values.reduce(0) { $0 + $1.fields.count }
    }
    report.member("roles", as: .count) { $0.schema.roles.count }
    report.optional("changes") { $0.outcome?.changes.map { "\($0)" } }
    report.optional("refusals") { $0.outcome?.refusals.map(\.reason) }
  }
}
