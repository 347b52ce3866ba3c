/// What the program's exit status says.
enum ExitStatus {
  /// It was done.
  static let done: Int32 = 0
  /// It was not; standard error has the reason. Of commands that look at something: it is not as it
  /// should be.
  static let failed: Int32 = 1
  /// The words of the command are wrong (`EX_USAGE`, sysexits.h).
  static let usage: Int32 = 64
  static let usageMeaning = "the words of the command are wrong"
}
