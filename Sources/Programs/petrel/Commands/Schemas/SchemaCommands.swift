import AdminAPI
import CloudKitModel
import CommandInterface
import Foundation
import JSONCoding
import PetrelServer
import SchemaLanguage

/// The command `petrel schema export`, which prints a schema in the schema language.
struct SchemaExportCommand: Command {
  let name = "schema export"
  let example = "petrel schema export --container iCloud.com.example.app --output app.ckdb"
  let summary = "Prints a container's schema in the schema language."
  let options: [Arguments.Option] =
    AdminArgument.place.options + [
      .init("output", "FILE", "where to write it instead of printing it"), AdminOptions.json,
    ] + AdminOptions.all

  func run(_ arguments: Arguments) async throws -> Int32 {
    var place = try [AdminArgument.environment].members(arguments)
    place["container"] = .string(try SchemaWork.container(arguments))
    let schema = try await AdminOptions.withAccess(arguments) { [place] in
      try await $0.get("schema", place)
    }
    let text = arguments.flag("json") ? schema.text + "\n" : schema["text"]?.string ?? ""
    guard let file = arguments.string("output") else {
      Output.write(text)
      return 0
    }
    try Data(text.utf8).write(to: URL(fileURLWithPath: file), options: .atomic)
    return 0
  }
}

/// The command `petrel schema validate`, which checks a schema file and prints its first mistake
/// with the line.
///
/// With `--container` or `--server`, the command also calls `POST schema/validate` of the admin
/// API. If a container is named, the API compares the file with the container's schema, and the
/// command prints the changes.
struct SchemaValidateCommand: Command {
  let name = "schema validate"
  let example = "petrel schema validate app.ckdb --container iCloud.com.example.app"
  let summary = "Checks a schema file and prints its mistakes."
  let operands = "FILE"
  let options: [Arguments.Option] =
    [
      .init(
        "container", "IDENTIFIER", "also prints what an import into this container would change"),
      AdminOptions.json,
    ] + AdminOptions.all

  func run(_ arguments: Arguments) async throws -> Int32 {
    // The container may also be the second word, without `--container`, as in earlier versions.
    var words = arguments.positional
    let named =
      words.count == 2 && arguments.string("container") == nil
      ? words.removeLast() : arguments.string("container")
    guard words.count == 1, let file = words.first else { throw UsageError("needs one FILE") }
    let container = try named.map(AdminArgument.container.checked)
    guard let (schema, text) = try SchemaWork.readSchema(file) else { return 1 }
    let fields = schema.recordTypes.values.reduce(0) { $0 + $1.fields.count }
    var report: [String: JSONValue] = [
      "recordTypes": .int(Int64(schema.recordTypes.count)), "fields": .int(Int64(fields)),
      "roles": .int(Int64(schema.roles.count)),
    ]
    // A server that `--server` names also checks the file, because it may have another version than
    // this program.
    if container != nil || arguments.string("server") != nil {
      var body: [String: JSONValue] = ["text": .string(text)]
      body["container"] = container.map { .string($0) }
      let answer = try await AdminOptions.withAccess(arguments, makesStore: true) { [body] in
        try await $0.post("schema/validate", body)
      }
      report = answer.object ?? [:]
    }
    if arguments.flag("json") {
      report["file"] = .string(file)
      guard container != nil else {
        Output.json(.object(report))
        return 0
      }
    } else {
      func count(_ name: String) -> Int64 { report[name]?.int ?? 0 }
      Output.line(
        "\(file) is valid. Record types: \(count("recordTypes")), fields: \(count("fields")), "
          + "roles: \(count("roles"))")
      if container == nil { return 0 }
    }
    return SchemaWork.show(.object(report), isDryRun: true, arguments)
  }
}

/// The command `petrel schema import`, which makes a schema file the development schema of a
/// container.
///
/// It calls `POST schema/import` of the admin API, or with `--dry-run` only `POST schema/validate`.
struct SchemaImportCommand: Command {
  let name = "schema import"
  let example = "petrel schema import app.ckdb --container iCloud.com.example.app --dry-run"
  let summary = "Makes a schema file the development schema of a container."
  let operands = "FILE"
  let options: [Arguments.Option] = SchemaWork.changeOptions + AdminOptions.all

  func run(_ arguments: Arguments) async throws -> Int32 {
    let (container, file) = try SchemaWork.containerAndFile(arguments)
    guard let (_, text) = try SchemaWork.readSchema(file) else { return 1 }
    let isDryRun = arguments.flag("dry-run")
    let body: [String: JSONValue] = ["container": .string(container), "text": .string(text)]
    return try await AdminOptions.withAccess(arguments, makesStore: true) { access in
      var outcome = try await access.post(isDryRun ? "schema/validate" : "schema/import", body)
      if isDryRun {
        outcome = .object(
          (outcome.object ?? [:]).filter { ["changes", "refusals"].contains($0.key) })
      }
      return try await SchemaWork.finish(outcome, isDryRun: isDryRun, arguments, by: access)
    }
  }
}

/// The command `petrel schema deploy`, which adds the development schema of a container to its
/// production schema.
///
/// It calls `POST schema/deploy` of the admin API, or with `--dry-run` only `GET
/// schema/differences`.
struct SchemaDeployCommand: Command {
  let name = "schema deploy"
  let example = "petrel schema deploy --container iCloud.com.example.app --dry-run"
  let summary = "Adds a container's development schema to its production schema."
  let options: [Arguments.Option] = SchemaWork.changeOptions + AdminOptions.all

  func run(_ arguments: Arguments) async throws -> Int32 {
    let container = try SchemaWork.container(arguments)
    let isDryRun = arguments.flag("dry-run")
    return try await AdminOptions.withAccess(arguments) { access in
      let outcome =
        isDryRun
        ? try await access.get("schema/differences", ["container": .string(container)])
        : try await access.post("schema/deploy", ["container": .string(container)])
      return try await SchemaWork.finish(outcome, isDryRun: isDryRun, arguments, by: access)
    }
  }
}

extension AdminCommand {
  static let schemaStatus = AdminCommand(
    "schema status", "Shows which indexes the server is building, and the progress of each.",
    example: "petrel schema status", .get("schema/index-work"),
    prints: .lines { answer, _ in
      let work = answer["indexWork"]?.array ?? []
      return work.isEmpty ? ["all indexes are complete"] : work.map { $0.text("text") }
    })
}
