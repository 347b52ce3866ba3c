import CloudKitModel
import Foundation
import PetrelServer
import SchemaLanguage
import Storage

/// `petrel schema export`
enum SchemaExportCommand: Command {
  static let name = "schema export"
  static let summary = "Prints a container's schema in the schema language."
  static let options: [Arguments.Option] = [
    ContainerOptions.container, ContainerOptions.environment,
    .init("output", "FILE", "where to write it instead of printing it"),
    ServeCommand.dataOption,
  ]

  static func run(_ arguments: Arguments) async throws -> Int32 {
    let container = try SchemaWork.container(arguments)
    let environment = try ContainerOptions.environment(arguments)
    let text = try await ServeCommand.withStore(arguments) { store in
      try await store.schema(of: container, in: environment).text
    }
    guard let file = arguments.string("output") else {
      Output.write(text)
      return 0
    }
    try Data(text.utf8).write(to: URL(fileURLWithPath: file), options: .atomic)
    return 0
  }
}

/// `petrel schema validate`
enum SchemaValidateCommand: Command {
  static let name = "schema validate"
  static let summary = "Reads a schema file and tells what is wrong with it."
  static let operands = "FILE"
  static let options: [Arguments.Option] = [
    .init("container", "IDENTIFIER", "tells also what an import into it would change"),
    ServeCommand.dataOption,
  ]

  static func run(_ arguments: Arguments) async throws -> Int32 {
    // The container may also be the second word, without its option, as it once had to be.
    var words = arguments.positional
    let container =
      words.count == 2 && arguments.string("container") == nil
      ? words.removeLast() : arguments.string("container")
    guard words.count == 1, let file = words.first else { throw UsageError("needs one FILE") }
    guard let schema = try SchemaWork.readSchema(file) else { return 1 }
    let fields = schema.recordTypes.values.reduce(0) { $0 + $1.fields.count }
    Output.line(
      "\(file) is valid. Record types: \(schema.recordTypes.count), fields: \(fields), "
        + "roles: \(schema.roles.count)")
    guard let container = try container.map(ContainerOptions.checked) else { return 0 }
    let outcome = try await ServeCommand.withStore(arguments) { store in
      try await store.importSchema(schema, of: container, isTrial: true)
    }
    return SchemaWork.tell(outcome, isTrial: true)
  }
}

/// `petrel schema import`
enum SchemaImportCommand: Command {
  static let name = "schema import"
  static let summary = "Makes a schema file the development schema of a container."
  static let operands = "FILE"
  static let options: [Arguments.Option] = SchemaWork.changeOptions

  static func run(_ arguments: Arguments) async throws -> Int32 {
    let (container, file) = try SchemaWork.containerAndFile(arguments)
    guard let schema = try SchemaWork.readSchema(file) else { return 1 }
    let isTrial = arguments.flag("dry-run")
    return try await ServeCommand.withStore(arguments) { store in
      let outcome = try await store.importSchema(schema, of: container, isTrial: isTrial)
      return try await SchemaWork.finish(outcome, isTrial: isTrial, arguments, in: store)
    }
  }
}

/// `petrel schema deploy`
enum SchemaDeployCommand: Command {
  static let name = "schema deploy"
  static let summary = "Adds a container's development schema to its production schema."
  static let options: [Arguments.Option] = SchemaWork.changeOptions

  static func run(_ arguments: Arguments) async throws -> Int32 {
    let container = try SchemaWork.container(arguments)
    let isTrial = arguments.flag("dry-run")
    return try await ServeCommand.withStore(arguments) { store in
      let outcome = try await store.deploySchema(of: container, isTrial: isTrial)
      return try await SchemaWork.finish(outcome, isTrial: isTrial, arguments, in: store)
    }
  }
}

/// `petrel schema status`
enum SchemaStatusCommand: Command {
  static let name = "schema status"
  static let summary = "Tells which indexes are being built, and how far they are."
  static let options: [Arguments.Option] = [
    ServeCommand.dataOption
  ]

  static func run(_ arguments: Arguments) async throws -> Int32 {
    guard arguments.positional.isEmpty else { throw UsageError("takes no words but options") }
    let work = try await ServeCommand.withStore(arguments) { try await $0.indexWork() }
    if work.isEmpty { Output.line("all indexes are complete") }
    for item in work { Output.line("\(item.name): \(item.progress)") }
    return 0
  }
}
