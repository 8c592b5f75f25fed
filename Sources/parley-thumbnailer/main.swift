// One picture from standard input to standard output.
import CPNG
import CSeccomp
import CTurboJPEG
import CWebP

print(tjInitDecompress() == nil)
