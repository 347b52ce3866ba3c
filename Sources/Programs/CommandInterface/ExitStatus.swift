/// What the program's exit status says.
package enum ExitStatus {
  /// It was done.
  package static let done: Int32 = 0
  /// It was not; standard error has the reason. Of commands that look at something: it is not as it
  /// should be.
  package static let failed: Int32 = 1
  /// The words of the command are wrong (`EX_USAGE`, sysexits.h).
  package static let usage: Int32 = 64
  package static let usageMeaning = "the words of the command are wrong"
}
