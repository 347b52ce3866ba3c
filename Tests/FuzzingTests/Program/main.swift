// libFuzzer with the target that PETREL_FUZZ_TARGET names; `make fuzz` runs it. Alone with `list` it
// prints the targets, with `words` the dictionary of one; with `seeds FOLDER` it writes an input of each
// hostile shape.
import Foundation

/// Gives an input to a target, and stops the program where something does not hold: libFuzzer keeps
/// the input then.
private func attack(_ target: FuzzTarget, _ input: [UInt8]) {
  let done = DispatchSemaphore(value: 0)
  nonisolated(unsafe) var violation: Violation?
  switch target.attack {
  case .value(let attack):
    func attackOnce() -> Double {
      ProcessorTime.ofThread {
        do { try attack(input) } catch { violation = error as? Violation }
      }
    }
    // Far more than any input takes whose work grows with its bytes, sanitizer included.
    let allowance = 50 + 0.05 * Double(input.count)
    var time = attackOnce()
    // The first input of a run also loads what the others find loaded.
    if time > allowance { time = min(time, attackOnce()) }
    if time > allowance, violation == nil {
      violation = Violation(
        description: "\(input.count) bytes take \(time) ms of processor time, over \(allowance)")
    }
  case .service:
    Task.detached {
      violation = await target.violation(by: input)
      done.signal()
    }
    done.wait()
  }
  if let violation {
    FileHandle.standardError.write(Data("VIOLATION: \(violation)\n".utf8))
    abort()
  }
}

private typealias Callback = @convention(c) (UnsafePointer<UInt8>?, Int) -> CInt

@_silgen_name("LLVMFuzzerRunDriver")
private func runDriver(
  _ count: UnsafeMutablePointer<CInt>,
  _ arguments: UnsafeMutablePointer<UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>>,
  _ callback: Callback
) -> CInt

private let name = ProcessInfo.processInfo.environment["PETREL_FUZZ_TARGET"]
private let target = FuzzTarget.all.first { $0.name == name }

switch CommandLine.arguments.dropFirst().first {
case "list":
  for target in FuzzTarget.all { print(target.name, target.longest) }
  exit(0)
case "words":
  for word in target?.words ?? [] {
    let escaped = word.utf8.map { String(format: "\\x%02x", $0) }
    print("\"\(escaped.joined())\"")
  }
  exit(0)
case "seeds":
  guard let target, CommandLine.arguments.count == 3 else {
    FileHandle.standardError.write(Data("usage: PETREL_FUZZ_TARGET=NAME fuzz seeds FOLDER\n".utf8))
    exit(2)
  }
  for shape in HostileShape.all {
    let name = "shape-" + shape.name.replacingOccurrences(of: " ", with: "-")
    let text = shape.text(size: target.longest)
    try Data(text.utf8.prefix(target.longest)).write(
      to: URL(fileURLWithPath: CommandLine.arguments[2]).appendingPathComponent(name))
  }
  exit(0)
default:
  guard target != nil else {
    FileHandle.standardError.write(Data("PETREL_FUZZ_TARGET names no target\n".utf8))
    exit(2)
  }
  nonisolated(unsafe) var count = CommandLine.argc
  nonisolated(unsafe) var arguments = CommandLine.unsafeArgv
  exit(
    runDriver(&count, &arguments) { bytes, count in
      if let target {
        attack(target, Array(UnsafeBufferPointer(start: bytes, count: count)))
      }
      return 0
    })
}
