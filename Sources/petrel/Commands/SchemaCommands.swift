import CloudKitModel
import Foundation
import PetrelServer
import SchemaLanguage
import Storage

/// `petrel schema export`
enum SchemaExportCommand: Command {
  static let name = "schema export"
  static let summary = "Prints a container's schema in the schema language."
  static let operands = "CONTAINER"
  static let options: [Arguments.Option] = [
    .init("environment", "NAME", "development or production (default development)"),
    .init("output", "FILE", "where to write it instead of printing it"),
    .init("data", "DIRECTORY", "where the store lies (default .petrel)"),
  ]

  static func run(_ arguments: Arguments) async throws -> Int32 {
    let container = try SchemaWork.container(arguments, others: 0)
    let environment = try SchemaWork.environment(arguments, default: .development)
    let text = try await SchemaWork.withStore(arguments) { store in
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
  static let operands = "FILE [CONTAINER]"
  static let options: [Arguments.Option] = [
    .init("data", "DIRECTORY", "where the container's store lies (default .petrel)")
  ]

  static func run(_ arguments: Arguments) async throws -> Int32 {
    guard (1...2).contains(arguments.positional.count) else {
      throw UsageError("needs a FILE, and perhaps the CONTAINER to import it into")
    }
    let file = arguments.positional[0]
    guard let schema = try SchemaWork.readSchema(file) else { return 1 }
    let fields = schema.recordTypes.values.reduce(0) { $0 + $1.fields.count }
    Output.line(
      "\(file) is valid. Record types: \(schema.recordTypes.count), fields: \(fields), "
        + "roles: \(schema.roles.count)")
    guard arguments.positional.count == 2 else { return 0 }
    let container = arguments.positional[1]
    let outcome = try await SchemaWork.withStore(arguments) { store in
      try await store.importSchema(schema, of: container, isTrial: true)
    }
    return SchemaWork.tell(outcome, isTrial: true)
  }
}

/// `petrel schema import`
enum SchemaImportCommand: Command {
  static let name = "schema import"
  static let summary = "Makes a schema file the development schema of a container."
  static let operands = "CONTAINER FILE"
  static let options: [Arguments.Option] = SchemaWork.changeOptions

  static func run(_ arguments: Arguments) async throws -> Int32 {
    let container = try SchemaWork.container(arguments, others: 1, "and a FILE")
    guard let schema = try SchemaWork.readSchema(arguments.positional[1]) else { return 1 }
    let isTrial = arguments.flag("dry-run")
    return try await SchemaWork.withStore(arguments) { store in
      let outcome = try await store.importSchema(schema, of: container, isTrial: isTrial)
      return try await SchemaWork.finish(outcome, isTrial: isTrial, arguments, in: store)
    }
  }
}

/// `petrel schema deploy`
enum SchemaDeployCommand: Command {
  static let name = "schema deploy"
  static let summary = "Adds a container's development schema to its production schema."
  static let operands = "CONTAINER"
  static let options: [Arguments.Option] = SchemaWork.changeOptions

  static func run(_ arguments: Arguments) async throws -> Int32 {
    let container = try SchemaWork.container(arguments, others: 0)
    let isTrial = arguments.flag("dry-run")
    return try await SchemaWork.withStore(arguments) { store in
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
    .init("data", "DIRECTORY", "where the store lies (default .petrel)")
  ]

  static func run(_ arguments: Arguments) async throws -> Int32 {
    guard arguments.positional.isEmpty else { throw UsageError("takes no words but options") }
    let work = try await SchemaWork.withStore(arguments) { try await $0.indexWork() }
    if work.isEmpty { Output.line("all indexes are complete") }
    for item in work { Output.line("\(item.name): \(item.progress)") }
    return 0
  }
}
