import CommandInterface
import Testing

@testable import petrel
@testable import petrel_bench

struct CommandTests {
  static let programs = [Program.petrel, BenchmarkProgram.petrelBench]

  @Test("names differ, and none hides another", arguments: programs)
  func names(program: CommandProgram) {
    let names = program.commands.map { $0.name }
    #expect(Set(names).count == names.count)
    for name in names {
      #expect(!names.contains { $0.hasPrefix(name + " ") }, "\(name)")
      #expect((1...2).contains(name.split(separator: " ").count), "\(name)")
    }
  }

  @Test("examples are understood by the command they are for", arguments: programs)
  func examples(program: CommandProgram) throws {
    for command in program.commands {
      let words = command.example.split(separator: ">")[0].split(separator: " ").map(String.init)
      let index = try #require(words.lastIndex(of: program.name), "\(command.name)")
      let own = words[(index + 1)...]
      let name = command.name.split(separator: " ").map(String.init)
      #expect(own.starts(with: name), "\(command.name)")
      let arguments = try Arguments(own.dropFirst(name.count), options: command.options)
      let operands = command.operands.split(separator: " ").filter { !$0.hasPrefix("[") }
      #expect(arguments.positional.count >= operands.count, "\(command.example)")
      for option in command.options where option.isRequired {
        #expect(arguments.string(option.name) != nil, "\(command.example) lacks --\(option.name)")
      }
    }
  }

  @Test(
    "options have a name and a help each, and words where the help names them", arguments: programs)
  func options(program: CommandProgram) {
    for command in program.commands {
      #expect(Set(command.options.map(\.name)).count == command.options.count, "\(command.name)")
      for option in command.options {
        #expect(!option.help.isEmpty && !option.name.hasPrefix("-"))
        if option.name == "environment" {
          #expect(option.words == ["development", "production"], "\(command.name)")
        }
      }
    }
  }
}

extension CommandProgram: CustomTestStringConvertible {
  public var testDescription: String { name }
}
