// The placeholder of pictures.
import Testing
