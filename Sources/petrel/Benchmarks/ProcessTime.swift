import Foundation

/// The processor time that a process has used, which others on the machine change little.
enum ProcessTime {
  /// User's and system's seconds together (proc(5)); 0 for a process that is gone.
  static func seconds(of process: Int32) -> Double {
    guard let line = try? String(contentsOfFile: "/proc/\(process)/stat", encoding: .utf8),
      let name = line.lastIndex(of: ")")
    else { return 0 }
    // Behind the name, which may have spaces, come the state and the fields from the fourth on.
    let fields = line[line.index(after: name)...].split(separator: " ")
    guard fields.count > 12, let user = Double(fields[11]), let system = Double(fields[12])
    else { return 0 }
    return (user + system) / Double(sysconf(Int32(_SC_CLK_TCK)))
  }
}
